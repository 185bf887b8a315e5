import type { QualifiedName } from '../catalog/catalog.ts';
import { type Codec, leaf, like, mapOf, nonEmptyText, object, optional, required, text } from './codec.ts';
import type { KindCodecs } from './kinds.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface ComputedFieldDefinition {
  readonly function: QualifiedName;
  readonly tableArgument?: string;
  readonly sessionArgument?: string;
  /** Column for each argument that takes one, for kinds whose functions take values of columns. */
  readonly argumentMapping?: ReadonlyMap<string, string>;
  /** Table whose rows such a function returns. */
  readonly returnTable?: QualifiedName;
}

export interface ComputedField extends ComputedFieldDefinition, WithUnknownKeys {
  readonly name: string;
  readonly comment?: string;
}

export function computedFieldDefinitionCodec(codecs: KindCodecs): Codec<ComputedFieldDefinition> {
  if (codecs.functionsOfColumns === true) {
    return object('ComputedFieldDefinition', {
      function: required(codecs.functionName),
      argumentMapping: required(mapOf(nonEmptyText)),
      returnTable: required(codecs.tableName),
    });
  }
  return object('ComputedFieldDefinition', {
    function: required(codecs.functionName),
    tableArgument: optional(nonEmptyText),
    sessionArgument: optional(nonEmptyText),
  });
}

/** Entry of `computed_fields`: `{name, definition: {…}, comment?}`. */
export function computedFieldCodec(codecs: KindCodecs): Codec<ComputedField> {
  const written = object('ComputedFieldMetadata', {
    name: required(nonEmptyText),
    definition: required(computedFieldDefinitionCodec(codecs)),
    comment: optional(text),
  });
  return preserveUnknownKeys<ComputedField>(
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
