import { EMPTY_METADATA, type Metadata } from '../../src/metadata/metadata.ts';
import type { Kinds } from '../../src/metadata/kinds.ts';
import { changedPieces, type MetadataPiece, type PieceChange } from '../../src/metadata/pieces.ts';

/** Returns all of `changedPieces`. */
export function diffPieces(before: Metadata, after: Metadata, kinds: Kinds): readonly PieceChange[] {
  return [...changedPieces(before, after, kinds)];
}

/** Returns the whole document in pieces. */
export function toPieces(metadata: Metadata, kinds: Kinds): readonly MetadataPiece[] {
  return diffPieces(EMPTY_METADATA, metadata, kinds);
}
