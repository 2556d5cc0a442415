; SPDX-License-Identifier: BSD-3-Clause
; Copyright the huddle contributors
; Bands of a photonic crystal: three-dimensional Fourier transforms, so all-to-alls.
(set! num-bands 8)
(set! k-points (interpolate 2 (list (vector3 0 0.5 0) (vector3 0.5 0.5 0.5))))
(set! geometry (list (make sphere (center 0) (radius 0.3) (material (make dielectric (epsilon 12))))))
(set! geometry-lattice (make lattice (size 1 1 1)))
(set! resolution 32)
(run)
