import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly kind?: 'plain' | 'wide' | 'drawer';
  onClose(): void;
  /** Called for Ctrl+Enter, and for Enter in the only field. */
  onSubmit?(): void;
  /** Called for each input in the dialog. */
  onEdit?(): void;
}

const ENABLED = ':not([disabled], [readonly], [hidden])';
const FIELDS = ['input', 'select', 'textarea'].map((tag) => `.body ${tag}${ENABLED}`).join();
const EDITORS = '.body .code-editor';

/**
 * A modal dialog. The focus returns to the previous element when it closes. Escape and the close button ask once before they discard
 * what was entered.
 */
export function Dialog({ title, children, footer, kind = 'plain', onClose, onSubmit, onEdit }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { isAsking, edit, saved, close, keep } = useDiscardQuestion(onClose);
  useModal(dialog);
  return (
    <dialog
      ref={dialog}
      class={`dialog${kind === 'plain' ? '' : ` dialog-${kind}`}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onKeyDown={(event) => {
        if (event.defaultPrevented) return;
        // Not left to the cancel event, which the browser does not let a page prevent twice in a row.
        if (event.key === 'Escape') close();
        else if (event.key === 'Enter' && onSubmit !== undefined && submits(event, dialog.current)) onSubmit();
        else return;
        event.preventDefault();
      }}
      onInput={({ target }) => {
        onEdit?.();
        if (isEntered(target, onSubmit !== undefined)) edit();
      }}
      onMouseDown={({ target }) => {
        if (target instanceof Element && target.closest('[role="option"]') !== null) edit();
      }}
      onSubmit={saved}
    >
      <div class="dialog-head">
        <h2 id={id} class="grow">
          {title}
        </h2>
        <Button kind="quiet" icon="cross" name="Close" onClick={close} />
      </div>
      <div class="body">{children}</div>
      {isAsking && (
        <div class="dialog-foot banner-warn" role="alert">
          <span class="grow">Discard what you have entered?</span>
          <Button small kind="danger" onClick={onClose}>
            Discard
          </Button>
          <Button small onClick={keep}>
            Keep editing
          </Button>
        </div>
      )}
      {footer !== undefined && <div class="dialog-foot">{footer}</div>}
    </dialog>
  );
}

/** Opens the dialog, and returns the focus to the previous element at the end. */
function useModal(dialog: { readonly current: HTMLDialogElement | null }): void {
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
}

/** Tracks whether something was entered, and asks before it is discarded. */
function useDiscardQuestion(onClose: () => void) {
  const isEdited = useRef(false);
  const [isAsking, setAsking] = useState(false);
  return {
    isAsking,
    edit(): void {
      isEdited.current = true;
      setAsking(false);
    },
    saved(): void {
      isEdited.current = false;
    },
    keep: (): void => setAsking(false),
    close(): void {
      if (isEdited.current && !isAsking) setAsking(true);
      else onClose();
    },
  };
}

/** Returns whether an input is part of what the dialog submits. Filters are not, and without a submit checkboxes apply at once. */
function isEntered(target: EventTarget | null, isForm: boolean): boolean {
  if (!(target instanceof HTMLElement) || target.dataset['filter'] !== undefined) return false;
  return isForm || !(target instanceof HTMLInputElement && target.type === 'checkbox');
}

function submits(event: KeyboardEvent, dialog: HTMLDialogElement | null): boolean {
  if (event.ctrlKey || event.metaKey) return true;
  const { target } = event;
  if (!(target instanceof HTMLInputElement) || target.type === 'checkbox' || target.form !== null) return false;
  return dialog?.querySelectorAll(`${FIELDS}, ${EDITORS}`).length === 1;
}
