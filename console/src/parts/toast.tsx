import { signal } from '@preact/signals';
import { Button } from './button.tsx';

export interface ToastAction {
  readonly label: string;
  run(): void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
  readonly actions: readonly ToastAction[];
}

const SHOWN_MS = 9000;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Shows a message for 9 s; screen readers announce it. */
export function showToast(
  text: string,
  { isError = false, actions = [] }: { readonly isError?: boolean; readonly actions?: readonly ToastAction[] } = {},
): void {
  const toast: Toast = { id: ++count, text, isError, actions };
  toasts.value = [...toasts.peek().slice(-3), toast];
  setTimeout(() => dismiss(toast.id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isError, actions }) => (
        <div key={id} class={`toast${isError ? ' toast-error' : ''}`}>
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
