import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** An entry of `errors` in a response, with its position in the document and the names that the service suggests. */
export function ResponseError({ error }: { readonly error: JsonObject }) {
  const extensions = isObject(error['extensions']) ? error['extensions'] : {};
  const path = typeof extensions['path'] === 'string' ? extensions['path'] : undefined;
  const shown = shownError({
    message: String(error['message']),
    code: String(extensions['code'] ?? ''),
    path,
    internal: extensions['internal'],
  });
  const suggestions = strings(extensions['suggestions']);
  const position = positionOf(error['locations']);
  return (
    <ErrorBox error={shown}>
      {position !== null && <p class="small">{position}</p>}
      {suggestions.length > 0 &&
        // For syntax errors and refused credentials, suggestions are sentences; otherwise, they are names.
        (suggestions.some((each) => each.includes(' ')) ? (
          <p>{suggestions.join(' ')}</p>
        ) : (
          <p>
            Did you mean{' '}
            {suggestions.map((name, index) => (
              <>
                {index > 0 && (index === suggestions.length - 1 ? ' or ' : ', ')}
                <code>{name}</code>
              </>
            ))}
            ?
          </p>
        ))}
    </ErrorBox>
  );
}

function strings(json: Json | undefined): readonly string[] {
  return isList(json) ? json.filter((each) => typeof each === 'string') : [];
}

function positionOf(locations: Json | undefined): string | null {
  const [first] = isList(locations) ? locations : [];
  return isObject(first) ? `Line ${String(first['line'])}, column ${String(first['column'])}` : null;
}
