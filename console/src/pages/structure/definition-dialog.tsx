import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { runSql } from '../../api/metadata.ts';
import { refreshOverview } from '../../api/overview.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { SqlFailure } from '../../features/sql-failure.tsx';
import { type Definition, problemOf, sqlOf } from '../../model/definitions.ts';
import { KINDS } from '../../model/kinds.generated.ts';
import { STANDARD_LEXIS } from '../../model/sql-statements.ts';
import { STRUCTURES } from '../../model/structures.generated.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/code-forms.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { showToast } from '../../parts/toast.tsx';

/** Source whose structure changes. */
export interface DefinedSource {
  readonly name: string;
  readonly kind: string;
}

interface DefinitionDialogProps {
  readonly title: string;
  /** Label of the button that runs the SQL. */
  readonly action: string;
  readonly source: DefinedSource;
  readonly definitions: readonly Definition[];
  /** Reason why the form is incomplete. */
  readonly refusal?: string | undefined;
  /** True if the SQL drops something. */
  readonly drops?: boolean;
  /** True if the form has edits that the definitions do not show, such as a column without a name. */
  readonly isEdited?: boolean;
  readonly children?: ComponentChildren;
  onClose(): void;
  /** Called after the SQL has run. */
  onDone(): void | Promise<void>;
}

/** A form that shows its SQL and runs it, checked against the metadata. Dependent metadata is dropped only after a confirmation. */
export function DefinitionDialog(props: DefinitionDialogProps) {
  const { title, action, source, definitions, drops = false, isEdited = false, children, onClose, onDone } = props;
  const first = useRef(JSON.stringify(definitions)).current;
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const form = STRUCTURES[source.kind];
  const problem = problemOf(definitions, KINDS[source.kind]?.lexis ?? STANDARD_LEXIS);
  const incomplete = props.refusal ?? (definitions.length === 0 ? 'Nothing has changed' : problem);
  const sql = form === undefined || incomplete !== undefined ? '' : sqlOf(definitions, form);
  const refusal = isReadOnly ? READ_ONLY_REASON : (incomplete ?? (isBusy ? 'Running …' : undefined));
  const run = async (cascade: boolean): Promise<void> => {
    if (refusal !== undefined) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await runSql(source.kind, { source: source.name, sql, cascade, check_metadata_consistency: true });
    } catch (error) {
      setFailure(failureOf(error));
      setBusy(false);
      return;
    }
    // The SQL has run, so an error of what follows is no reason to run it again.
    await refreshOverview();
    showToast(`Done: ${title}`);
    onClose();
    try {
      await onDone();
    } catch (error) {
      showToast(`${title}: ${failureOf(error).message}`, { isError: true });
    }
  };
  return (
    <Dialog
      title={title}
      kind="wide"
      isEdited={isEdited || JSON.stringify(definitions) !== first || undefined}
      onClose={onClose}
      onSubmit={() => void run(false)}
      footer={
        <Button kind={drops ? 'danger' : 'primary'} title="run_sql" refusal={refusal} onClick={() => void run(false)}>
          {action}
        </Button>
      }
    >
      {failure !== undefined && <SqlFailure failure={failure} onCascade={() => void run(true)} />}
      {children}
      <section class="stack-tight" aria-label="SQL">
        <div class="row">
          <h3 class="grow">SQL</h3>
          {sql !== '' && <CopyButton text={sql} />}
        </div>
        {sql === '' ? (
          <p class="muted small">{incomplete}</p>
        ) : (
          <pre class="code-block" tabIndex={0}>
            {sql}
          </pre>
        )}
      </section>
    </Dialog>
  );
}
