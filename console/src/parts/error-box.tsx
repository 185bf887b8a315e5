import type { ComponentChildren } from 'preact';
import type { Suggestions } from '../model/suggestions.ts';
import { Button } from './button.tsx';
import { CopyButton } from './code-forms.tsx';

export interface ShownError extends Partial<Suggestions> {
  readonly message: string;
  readonly code?: string;
  readonly path?: string | undefined;
  /** Printed JSON. */
  readonly internal?: string | undefined;
}

export function ErrorBox({
  error,
  onRetry,
  onName,
  children,
}: {
  readonly error: ShownError;
  onRetry?: (() => void) | undefined;
  /** Replaces the wrong name by a suggested one. */
  onName?: ((name: string) => void) | undefined;
  readonly children?: ComponentChildren;
}) {
  const { message, code, path, internal, names = [], remedies = [] } = error;
  const all = [message, code && `code: ${code}`, path && `path: ${path}`, internal].filter(Boolean).join('\n');
  return (
    <div class="error-box" role="alert">
      <p>{message}</p>
      {(code !== undefined || path !== undefined) && (
        <div class="facts">
          {code !== undefined && <code>{code}</code>}
          {path !== undefined && path !== '$' && <code>{path}</code>}
        </div>
      )}
      {internal !== undefined && (
        <details>
          <summary>Details</summary>
          <pre tabIndex={0}>{internal}</pre>
        </details>
      )}
      {children}
      {names.length > 0 && <SuggestedNames names={names} onChoose={onName} />}
      {remedies.length > 0 && <p>{remedies.join(' ')}</p>}
      <div class="row">
        {onRetry !== undefined && (
          <Button small icon="reload" onClick={onRetry}>
            Retry
          </Button>
        )}
        <CopyButton text={all} />
      </div>
    </div>
  );
}

function SuggestedNames({
  names,
  onChoose,
}: {
  readonly names: readonly string[];
  readonly onChoose: ((name: string) => void) | undefined;
}) {
  return (
    <p>
      Did you mean{' '}
      {names.map((name, index) => (
        <>
          {index > 0 && (index === names.length - 1 ? ' or ' : ', ')}
          {onChoose === undefined ? (
            <code>{name}</code>
          ) : (
            <Button kind="link" class="mono" title="Replace the name in the editor" onClick={() => onChoose(name)}>
              {name}
            </Button>
          )}
        </>
      ))}
      ?
    </p>
  );
}
