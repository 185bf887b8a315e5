import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Buttons; a function gets the `close` of the close button, and `discard`, which asks in the same way before another action. */
  readonly footer?: ComponentChildren | ((close: () => void, discard: (action: () => void) => void) => ComponentChildren);
  readonly kind?: 'plain' | 'wide' | 'drawer';
  /** True if closing would discard something. Without it, every input counts, but no button. */
  readonly isEdited?: boolean | undefined;
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
 * A modal dialog. The focus returns to the previous element when it closes. Escape and the close buttons ask once before they discard
 * what was entered.
 */
export function Dialog({ title, children, footer, kind = 'plain', isEdited, onClose, onSubmit, onEdit }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { asked, edit, saved, discard, keep } = useDiscardQuestion(isEdited);
  const close = (): void => discard(onClose);
  useModal(dialog);
  // Events of a dialog inside of this one come here as well.
  const isOwn = ({ target }: Event): boolean => target instanceof Element && target.closest('dialog') === dialog.current;
  return (
    <dialog
      ref={dialog}
      class={`dialog${kind === 'plain' ? '' : ` dialog-${kind}`}`}
      aria-labelledby={id}
      onCancel={(event) => {
        // A file input has an event of this name.
        if (event.target !== dialog.current) return;
        event.preventDefault();
        close();
      }}
      onKeyDown={(event) => {
        if (event.defaultPrevented || !isOwn(event)) return;
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
      onSubmit={(event) => {
        if (isOwn(event)) saved();
      }}
    >
      <div class="dialog-head">
        <h2 id={id} class="grow">
          {title}
        </h2>
        <Button kind="quiet" icon="cross" name="Close" onClick={close} />
      </div>
      <div class="body">{children}</div>
      {asked !== null && (
        <div class="dialog-foot banner-warn" role="alert">
          <span class="grow">Discard what you have entered?</span>
          <Button small kind="danger" onClick={asked}>
            Discard
          </Button>
          <Button small onClick={keep}>
            Keep editing
          </Button>
        </div>
      )}
      {footer !== undefined && <div class="dialog-foot">{typeof footer === 'function' ? footer(close, discard) : footer}</div>}
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
function useDiscardQuestion(isEdited: boolean | undefined) {
  const hasInput = useRef(false);
  /** Action that the question is about; `null` without a question. */
  const [asked, setAsked] = useState<(() => void) | null>(null);
  return {
    asked,
    edit(): void {
      hasInput.current = true;
      setAsked(null);
    },
    saved(): void {
      hasInput.current = false;
    },
    keep: (): void => setAsked(null),
    discard(action: () => void): void {
      if ((isEdited ?? hasInput.current) && asked === null) setAsked(() => action);
      else action();
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
