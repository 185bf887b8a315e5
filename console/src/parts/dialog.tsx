import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly kind?: 'plain' | 'wide' | 'drawer';
  onClose(): void;
  onSubmit?(): void;
}

const FIELDS = ['input', 'select', 'textarea'].map((tag) => `.body ${tag}:not([disabled], [readonly], [hidden])`).join();

/** A modal dialog. The focus returns to the previous element when it closes. */
export function Dialog({ title, children, footer, kind = 'plain', onClose, onSubmit }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    const { current } = dialog;
    current?.showModal();
    // Focus the first field instead of the close button.
    if (current?.querySelector('[autofocus]') === null) current.querySelector<HTMLElement>(FIELDS)?.focus();
    return () => {
      current?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog${kind === 'plain' ? '' : ` dialog-${kind}`}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        if (onSubmit !== undefined && event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          onSubmit();
        }
      }}
    >
      <div class="dialog-head">
        <h2 id={id} class="grow">
          {title}
        </h2>
        <Button kind="quiet" icon="cross" name="Close" onClick={onClose} />
      </div>
      <div class="body">{children}</div>
      {footer !== undefined && <div class="dialog-foot">{footer}</div>}
    </dialog>
  );
}
