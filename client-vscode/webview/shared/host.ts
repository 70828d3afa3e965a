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

/** What changes more often than this is drawn no oftener: the editor shares the processor. */
const DRAWN_MS = 80;

/** Draws in the next frame, at most some twelve times a second, however often it is asked to. */
export function painter(draw: () => void): () => void {
  let asked = false;
  let last = -Infinity;
  return () => {
    if (asked) {
      return;
    }
    asked = true;
    const paint = (): void => {
      asked = false;
      last = performance.now();
      draw();
    };
    const rest = last + DRAWN_MS - performance.now();
    if (rest > 0) {
      setTimeout(() => requestAnimationFrame(paint), rest);
    } else {
      requestAnimationFrame(paint);
    }
  };
}
