/* SPDX-License-Identifier: BSD-3-Clause
   Copyright the huddle contributors */
'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const frames = JSON.parse(byId('frames').textContent);
  const slider = byId('frame'), play = byId('play'), said = byId('said');
  const shades = [...document.querySelectorAll('#matrix path.shade')];
  const cores = new Map([...document.querySelectorAll('[data-core]')].map((e) => [e.dataset.core, e]));
  const frameMs = 700;
  let timer = 0;

  function seat(kind, seats) {
    const here = new Map(seats);
    for (const thread of document.querySelectorAll('.' + kind)) {
      const core = here.get(Number(thread.dataset.thread));
      thread.hidden = core === undefined;
      if (core !== undefined) cores.get(String(core)).append(thread);
    }
  }

  function show(number) {
    const frame = frames[number];
    shades.forEach((path, step) => path.setAttribute('d', frame.shades[step]));
    seat('thread', frame.seats);
    seat('wish', frame.wishes);
    for (const thread of document.querySelectorAll('.thread')) {
      thread.classList.toggle('moved', frame.moved.includes(Number(thread.dataset.thread)));
    }
    said.textContent = frame.said;
    byId('matrix').classList.toggle('thin', frame.thin);
    for (const text of ['most', 'largest', 'sampled']) byId(text).textContent = frame[text];
    byId('cursor').setAttribute('x', frame.at);
    slider.value = number + 1;
    slider.setAttribute('aria-valuetext', frame.said);
    document.querySelectorAll('#decisions tbody tr').forEach((row, place) => {
      if (place === number) row.setAttribute('aria-current', 'true');
      else row.removeAttribute('aria-current');
    });
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = 'Play';
  }

  play.addEventListener('click', () => {
    if (timer !== 0) {
      stop();
      return;
    }
    if (Number(slider.value) === frames.length) show(0);
    play.textContent = 'Stop';
    timer = setInterval(() => {
      if (Number(slider.value) === frames.length) stop();
      else show(Number(slider.value));
    }, frameMs);
  });
  slider.addEventListener('input', () => {
    stop();
    show(Number(slider.value) - 1);
  });
  byId('player').hidden = false;
  show(frames.length - 1);
})();
