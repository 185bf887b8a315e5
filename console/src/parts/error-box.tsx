import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { CopyButton } from './code-forms.tsx';

export interface ShownError {
  readonly message: string;
  readonly code?: string;
  readonly path?: string | undefined;
  /** Printed JSON. */
  readonly internal?: string | undefined;
}

export function ErrorBox({
  error,
  onRetry,
  children,
}: {
  readonly error: ShownError;
  onRetry?: (() => void) | undefined;
  readonly children?: ComponentChildren;
}) {
  const { message, code, path, internal } = error;
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
