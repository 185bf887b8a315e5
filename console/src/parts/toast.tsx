import { signal } from '@preact/signals';
import { Button } from './button.tsx';

export interface ToastAction {
  readonly label: string;
  run(): void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isWrong: boolean;
  readonly actions: readonly ToastAction[];
}

const SHOWN_MS = 9000;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Tells something for a while, read out by screen readers. */
export function tell(
  text: string,
  { isWrong = false, actions = [] }: { readonly isWrong?: boolean; readonly actions?: readonly ToastAction[] } = {},
): void {
  const toast: Toast = { id: ++count, text, isWrong, actions };
  toasts.value = [...toasts.peek().slice(-3), toast];
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isWrong, actions }) => (
        <div key={id} class={`toast${isWrong ? ' toast-wrong' : ''}`}>
          <span class="grow">{text}</span>
          {actions.map(({ label, run }) => (
            <Button
              key={label}
              kind="link"
              onClick={() => {
                dismiss(id);
                run();
              }}
            >
              {label}
            </Button>
          ))}
          <Button kind="link" icon="cross" name="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
