// The page's side of the talk with its host.
import type { ToHost, ToPage } from '../../src/panels/messages';

interface Api {
  postMessage(message: ToHost): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();

export function send(message: ToHost): void {
  api.postMessage(message);
}

/** Remembers what is shown, for the reload of the window. */
export function remember(state: unknown): void {
  api.setState(state);
}

export function hear(take: (message: ToPage) => void): void {
  window.addEventListener('message', (event: MessageEvent<ToPage>) => take(event.data));
  send({ type: 'ready' });
}

/** Draws once a frame, however often it is asked to. */
export function painter(draw: () => void): () => void {
  let asked = false;
  return () => {
    if (!asked) {
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        draw();
      });
    }
  };
}
