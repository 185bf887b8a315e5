import type { Span } from '../../model/document-place.ts';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { wrongName } from '../../model/wrong-name.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** The document that was sent, while the editor still has it. */
export interface SentDocument {
  readonly text: string;
  replace(place: Span, name: string): void;
}

/** An entry of `errors` in a response, with its position in the document and the names that the service suggests. */
export function ResponseError({ error, document }: { readonly error: JsonObject; readonly document: SentDocument | undefined }) {
  const extensions = isObject(error['extensions']) ? error['extensions'] : {};
  const path = typeof extensions['path'] === 'string' ? extensions['path'] : undefined;
  const message = String(error['message']);
  const shown = shownError({ message, code: String(extensions['code'] ?? ''), path, internal: extensions['internal'] });
  const suggestions = strings(extensions['suggestions']);
  const position = positionOf(error['locations']);
  const place =
    document === undefined || position === null || path === undefined
      ? undefined
      : wrongName(document.text, { message, path, ...position });
  return (
    <ErrorBox error={shown}>
      {position !== null && (
        <p class="small">
          Line {position.line}, column {position.column}
        </p>
      )}
      {suggestions.length > 0 &&
        // For syntax errors and refused credentials, suggestions are sentences; otherwise, they are names.
        (suggestions.some((each) => each.includes(' ')) ? (
          <p>{suggestions.join(' ')}</p>
        ) : (
          <SuggestedNames names={suggestions} onChoose={place && ((name) => document?.replace(place, name))} />
        ))}
    </ErrorBox>
  );
}

/** @param onChoose undefined if the document does not have the wrong name any more */
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
            <Button kind="link" class="mono" title="Replace the name in the query" onClick={() => onChoose(name)}>
              {name}
            </Button>
          )}
        </>
      ))}
      ?
    </p>
  );
}

function strings(json: Json | undefined): readonly string[] {
  return isList(json) ? json.filter((each) => typeof each === 'string') : [];
}

function positionOf(locations: Json | undefined): { readonly line: number; readonly column: number } | null {
  const [first] = isList(locations) ? locations : [];
  return isObject(first) ? { line: Number(first['line']), column: Number(first['column']) } : null;
}
