import type { Span } from '../../model/document-place.ts';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { suggestionsOf } from '../../model/suggestions.ts';
import { wrongName } from '../../model/wrong-name.ts';
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
  const shown = shownError({
    message,
    code: String(extensions['code'] ?? ''),
    path,
    internal: extensions['internal'],
    ...suggestionsOf(message, extensions['suggestions']),
  });
  const position = positionOf(error['locations']);
  const place =
    document === undefined || position === null || path === undefined
      ? undefined
      : wrongName(document.text, { message, path, ...position });
  return (
    <ErrorBox error={shown} onName={place && ((name) => document?.replace(place, name))}>
      {position !== null && (
        <p class="small">
          Line {position.line}, column {position.column}
        </p>
      )}
    </ErrorBox>
  );
}

function positionOf(locations: Json | undefined): { readonly line: number; readonly column: number } | null {
  const [first] = isList(locations) ? locations : [];
  return isObject(first) ? { line: Number(first['line']), column: Number(first['column']) } : null;
}
