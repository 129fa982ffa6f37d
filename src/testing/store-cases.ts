import {
  type BackendSubject,
  type CaseScript,
  type ConformanceCase,
  casesOf,
  type MakeBackend,
  type Scripts,
  scriptsOf,
} from './shared/conformance-case.js'
import { type StoreSetup, storeSetup } from './shared/sample.js'
import { basics } from './store/basics.js'
import { expiry } from './store/expiry.js'
import { finding } from './store/finding.js'
import { guards } from './store/guards.js'
import { manyCalls } from './store/many.js'
import { preparing } from './store/preparing.js'
import { races } from './store/races.js'
import { rejections } from './store/rejections.js'
import { uniqueness } from './store/uniqueness.js'
import { values } from './store/values.js'

const groups: readonly {
  readonly group: string
  readonly promise: string
  readonly scripts: Scripts<StoreSetup>
}[] = [
  {
    group: 'basics',
    promise: 'Collection: what the last acknowledged write wrote is what a read returns, as a copy',
    scripts: basics,
  },
  {
    group: 'uniqueness',
    promise: 'Collection: no two documents share a unique value; the later one changes nothing',
    scripts: uniqueness,
  },
  {
    group: 'guards',
    promise: 'Collection.update and take: a guard that does not hold answers null, changes nothing',
    scripts: guards,
  },
  {
    group: 'rejections',
    promise: 'Collection: what is not a well-formed call rejects with a TypeError, nothing written',
    scripts: rejections,
  },
  {
    group: 'paging',
    promise:
      'Collection.find: the documents equal in every field of one index, by id, page by page',
    scripts: finding,
  },
  {
    group: 'values',
    promise: 'FieldKind: a value comes back as it was given, to the last digit and code unit',
    scripts: values,
  },
  {
    group: 'expiry',
    promise: 'Collection.due and sweep: what expired, and never what was renewed',
    scripts: expiry,
  },
  {
    group: 'prepare',
    promise: 'Store.prepare: idempotent, forward-only, and safe when many replicas start at once',
    scripts: preparing,
  },
  {
    group: 'many',
    promise: 'Collection.many: each call does what the calls for one document would do',
    scripts: manyCalls,
  },
  {
    group: 'races',
    promise:
      'Collection: of racers with one guard one wins, and nothing acknowledged is lost (played on ' +
      'one connection, or on a driver without promises, this shows nothing: race processes there)',
    scripts: races,
  },
]

export const storeScripts: readonly CaseScript<BackendSubject>[] = groups.flatMap((group) => {
  return scriptsOf({ ...group, setUp: storeSetup })
})

/**
 * The cases that every `Store` must pass, including races. The races need a backend that carries out
 * several calls at once: give it a pool, not a single connection. With a driver without promises, one
 * call ends before the next begins, and only several processes race.
 *
 * @example
 * import { test } from 'node:test'
 * import { memory } from 'postern/memory'
 * import { storeCases } from 'postern/testing'
 *
 * for (const { name, run } of storeCases(async () => memory())) test(name, run)
 */
export function storeCases(make: MakeBackend): readonly ConformanceCase[] {
  return casesOf(storeScripts, make)
}
