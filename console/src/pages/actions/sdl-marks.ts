import type { Failure } from '../../api/failure.ts';
import { DocumentError, parseActionDocument, placesOfError } from '../../model/action-document.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';

/** Text that the service rejected, with its error. */
interface Rejected {
  readonly text: string;
  readonly failure: Failure;
}

/** Marks a syntax error in SDL; without one, the places that the service's error names while the text is unchanged. */
export function marksOfSdl(sdl: string, rejected: Rejected | undefined): readonly CodeMark[] {
  try {
    parseActionDocument(sdl);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return [{ from: error.from, to: error.to, message: error.message }];
  }
  if (rejected === undefined || rejected.text !== sdl) return [];
  const { message } = rejected.failure;
  return placesOfError(message, sdl).map((place) => ({ ...place, message }));
}
