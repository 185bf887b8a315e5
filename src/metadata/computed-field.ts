import type { QualifiedName } from '../catalog/catalog.ts';
import { type Codec, leaf, like, nonEmptyText, object, optional, required, text } from './codec.ts';
import type { KindCodecs } from './kinds.ts';
import { kept, type WithUnknownKeys } from './kept.ts';

export interface ComputedFieldDefinition {
  readonly function: QualifiedName;
  readonly tableArgument?: string;
  readonly sessionArgument?: string;
}

export interface ComputedField extends ComputedFieldDefinition, WithUnknownKeys {
  readonly name: string;
  readonly comment?: string;
}

export function computedFieldDefinitionCodec(codecs: KindCodecs): Codec<ComputedFieldDefinition> {
  return object('ComputedFieldDefinition', {
    function: required(codecs.functionName),
    tableArgument: optional(nonEmptyText),
    sessionArgument: optional(nonEmptyText),
  });
}

/** `{name, definition: {…}, comment?}`, of a document. */
export function computedFieldCodec(codecs: KindCodecs): Codec<ComputedField> {
  const written = object('ComputedFieldMetadata', {
    name: required(nonEmptyText),
    definition: required(computedFieldDefinitionCodec(codecs)),
    comment: optional(text),
  });
  return kept<ComputedField>(
    leaf(
      written.name,
      (json, path) => {
        const { definition, ...rest } = written.decode(json, path);
        return { ...rest, ...definition };
      },
      ({ name, comment, ...definition }) => written.encode({ name, definition, comment }),
      like(written),
    ),
  );
}
