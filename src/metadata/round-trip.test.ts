import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as arbitrary from '../../test/support/arbitrary-metadata.ts';
import * as arbitrarySource from '../../test/support/arbitrary-source.ts';
import { qualifiedName } from '../../test/support/arbitrary-values.ts';
import { testKind, testKinds } from '../../test/support/kinds.ts';
import { parseJson, printJson } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { runSync } from '../util/cooperative.ts';
import { apiLimitsCodec } from './api-limits.ts';
import type { Codec } from './codec.ts';
import { computedFieldCodec } from './computed-field.ts';
import { encodeDocument } from './encode-document.ts';
import { functionCodec } from './function.ts';
import { metadataCodec, sourceCodec } from './metadata.ts';
import { arrayUsingCodec, objectUsingCodec } from './relationship.ts';
import { sourceCustomizationCodec } from './source.ts';
import { tableCodec } from './table.ts';
import { tableConfigurationCodec } from './table-configuration.ts';
import { runs } from '../../test/support/deep.ts';

function roundTrips<T>(noun: string, codec: Codec<T>, values: fc.Arbitrary<T>): void {
  test(`${noun}: decoding the encoded form returns the value, and encodes to the same text`, () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = printJson(codec.encode(value));
        const again = codec.decode(parseJson(text), ROOT);
        expect(again).toEqual(value);
        expect(printJson(codec.encode(again))).toBe(text);
      }),
      runs(100, 20),
    );
  });
}

roundTrips('table name', testKind.tableName, qualifiedName);
roundTrips('table configuration', tableConfigurationCodec, arbitrarySource.tableConfiguration);
roundTrips('object relationship', objectUsingCodec(testKind), arbitrarySource.objectUsing);
roundTrips('array relationship', arrayUsingCodec(testKind), arbitrarySource.arrayUsing);
roundTrips('computed field', computedFieldCodec(testKind), arbitrarySource.computedField);
roundTrips(
  'computed field of columns',
  computedFieldCodec({ ...testKind, functionsOfColumns: true }),
  arbitrarySource.computedFieldOfColumns,
);
roundTrips('table with its permissions', tableCodec(testKind), arbitrarySource.table);
roundTrips('function', functionCodec(testKind), arbitrarySource.functionMetadata);
roundTrips('source customization', sourceCustomizationCodec, arbitrarySource.customization);
roundTrips('limits of roles', apiLimitsCodec, arbitrary.apiLimits);
roundTrips('source', sourceCodec(testKinds), arbitrarySource.source);
roundTrips('document', metadataCodec(testKinds), arbitrary.metadata);

test('a document that is encoded table by table is the same', () => {
  fc.assert(
    fc.property(arbitrary.metadata, (value) => {
      expect(printJson(runSync(encodeDocument(value, testKinds)))).toBe(printJson(metadataCodec(testKinds).encode(value)));
    }),
    runs(30, 6),
  );
});
