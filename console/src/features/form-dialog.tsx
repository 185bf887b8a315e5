import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../api/settings.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { shownError } from '../parts/shown-error.ts';

/** A form in a dialog, which goes when it was saved; why it was not is told above the fields, which keep what was written. */
export function FormDialog({
  title,
  kind = 'plain',
  action,
  operation,
  refusal: given,
  children,
  onClose,
  onSave,
}: {
  readonly title: string;
  readonly kind?: 'plain' | 'wide';
  /** Of the button that saves. */
  readonly action: string;
  /** What is sent. */
  readonly operation: string;
  /** What is missing yet. */
  readonly refusal: string | undefined;
  readonly children: ComponentChildren;
  onClose(): void;
  /** Returns whether it was saved; false if it was discarded in the review. @throws Error */
  onSave(): Promise<boolean>;
}) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const refusal = isReadOnly ? READ_ONLY_REASON : (given ?? (isBusy ? 'Being saved' : undefined));
  const save = async (): Promise<void> => {
    if (refusal !== undefined) return;
    setFailure(undefined);
    setBusy(true);
    try {
      if (await onSave()) onClose();
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      kind={kind}
      onClose={onClose}
      onSubmit={() => void save()}
      footer={
        <Button kind="primary" title={operation} refusal={refusal} onClick={() => void save()}>
          {action}
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {children}
    </Dialog>
  );
}
