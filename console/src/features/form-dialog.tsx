import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../api/settings.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { shownError } from '../parts/shown-error.ts';

/** A form in a dialog, which closes once it is saved. An error appears above the fields, which keep their text. */
export function FormDialog({
  title,
  kind = 'plain',
  action,
  operation,
  refusal: invalid,
  children,
  onClose,
  onSave,
}: {
  readonly title: string;
  readonly kind?: 'plain' | 'wide';
  /** Label of the button that saves. */
  readonly action: string;
  /** Operation that is sent, as the title of the button. */
  readonly operation: string;
  /** Reason why the form cannot be saved. */
  readonly refusal: string | undefined;
  readonly children: ComponentChildren;
  onClose(): void;
  /** Returns true if the form was saved, false if the review was discarded. @throws Error */
  onSave(): Promise<boolean>;
}) {
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const refusal = isReadOnly ? READ_ONLY_REASON : (invalid ?? (isBusy ? 'Saving …' : undefined));
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
      onEdit={() => setFailure(undefined)}
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
