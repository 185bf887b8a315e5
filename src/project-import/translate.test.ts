import fc from 'fast-check';
import { expect, it } from 'vitest';
import { metadata } from '../../test/support/arbitrary-metadata.ts';
import { runs } from '../../test/support/deep.ts';
import { testKinds } from '../../test/support/kinds.ts';
import { withRules } from '../metadata/decode-rules.ts';
import { metadataCodec } from '../metadata/metadata.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { ImportAccount, leavesOf } from './account.ts';
import { translate } from './translate.ts';

/** Adds an unknown key to some objects and removes a required one from others. */
function spoiled(value: Json, odds: () => number): Json {
  if (isJsonArray(value)) return value.map((item) => spoiled(item, odds));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, spoiled(item, odds)] as const);
  const lot = odds();
  if (lot === 0) return { ...Object.fromEntries(entries), 'x-unheard-of': { deep: [1, {}] } };
  if (lot === 1) return Object.fromEntries(entries.slice(1));
  if (lot === 2 && entries.length > 0) return { ...Object.fromEntries(entries), [entries[0]?.[0] as string]: 7 };
  return Object.fromEntries(entries);
}

it('accounts for every leaf of any document, and makes one that the service takes', () => {
  const codec = metadataCodec(testKinds);
  fc.assert(
    fc.property(metadata, fc.array(fc.nat(40), { minLength: 1, maxLength: 50 }), (one, lots) => {
      let at = 0;
      const odds = (): number => lots[at++ % lots.length] as number;
      const { version, ...rest } = codec.encode(one) as JsonObject;
      const document = { version: version ?? 3, ...(spoiled(rest, odds) as JsonObject) };
      const account = new ImportAccount();
      const { document: made } = translate(document, account, { kinds: testKinds, optionVariables: new Map() });
      codec.decode(made, withRules(ROOT, { refusesUnknown: true }));
      expect(account.leaves).toHaveLength(leavesOf(document).length);
    }),
    runs(500, 25),
  );
});
