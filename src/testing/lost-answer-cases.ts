import assert from 'node:assert/strict'
import type { Backend } from '../ports/backend.js'
import type { Collection } from '../ports/store.js'
import { addingCounter } from './shared/adding-counter.js'
import {
  type CaseScript,
  type ConformanceCase,
  caseOf,
  type Scripts,
  scriptsOf,
  uniqueName,
} from './shared/conformance-case.js'
import { fill, type Sample, sample, sampleSpec } from './shared/sample.js'

/** A backend whose connection can be broken between the database and the adapter. */
export interface LossyBackend {
  readonly backend: Backend
  /**
   * Makes the database carry out the next command without its answer ever arriving. The cases expect
   * that the call is carried out once or, if it takes more than one command, not at all.
   */
  loseNextAnswer(): void
}

interface Setup extends LossyBackend {
  readonly samples: Collection<Sample>
  readonly key: string
}

const noon = Date.UTC(2030, 5, 15, 12)

async function losing<R>({ loseNextAnswer }: Setup, call: () => Promise<R>): Promise<void> {
  loseNextAnswer()
  await assert.rejects(
    call(),
    'a call whose answer was lost must reject: nobody knows how it ended',
  )
}

/** Only the database knows whether the call was carried out. It must never be carried out twice. */
function oneOf<T>(actual: T, allowed: readonly T[], promise: string): void {
  const same = (one: T): boolean => {
    try {
      assert.deepEqual(actual, one)
      return true
    } catch {
      return false
    }
  }
  if (!allowed.some(same)) assert.fail(`${promise}: ${JSON.stringify(actual)}`)
}

const scripts: Scripts<Setup> = {
  'an insert whose answer was lost rejects': async (setup) => {
    await losing(setup, () => setup.samples.insert(sample('a')))
    oneOf(await setup.samples.get('a'), [null, sample('a')], 'whole or not at all')
  },
  'an update whose answer was lost rejects and is not repeated': async (setup) => {
    await fill(setup.samples, [sample('a')])
    await losing(setup, () => setup.samples.update('a', { enabled: true }, { count: 1 }))
    const first = [sample('a'), sample('a', { count: 1 })]
    oneOf(await setup.samples.get('a'), first, 'whole or not at all')
    await losing(setup, () => setup.samples.update('a', { enabled: true }, { count: 2 }))
    const second = [...first, sample('a', { count: 2 })]
    oneOf(await setup.samples.get('a'), second, 'whole or not at all')
  },
  'a take whose answer was lost rejects instead of answering null': async (setup) => {
    await fill(setup.samples, [sample('a')])
    await losing(setup, () => setup.samples.take('a'))
    oneOf(await setup.samples.get('a'), [sample('a'), null], 'whole or not at all')
  },
  'a read whose answer was lost never answers "not found"': async (setup) => {
    await fill(setup.samples, [sample('a', { expiresAt: 1 })])
    await losing(setup, () => setup.samples.get('a'))
    await losing(setup, () => setup.samples.find({ team: null }, { limit: 1 }))
    await losing(setup, () => setup.samples.due(1, 1))
  },
  'a denylist that cannot answer rejects: "not listed" is never a guess': async (setup) => {
    const { denylist } = setup.backend
    const entry = { id: setup.key, reason: 'revoked', expiresAt: noon } as const
    await losing(setup, () => denylist.put([entry]))
    await losing(setup, () => denylist.find([setup.key]))
    oneOf(await denylist.find([setup.key]), [[], [entry]], 'listed or not')
  },
  'a hit whose answer was lost rejects and is counted once': async (setup) => {
    const { counter } = setup.backend
    await losing(setup, () => counter.hit(setup.key, 1000, 5, noon))
    const { count } = await counter.hit(setup.key, 1000, 5, noon)
    oneOf(count, [1, 2], 'a hit must not be counted twice')
  },
  'an add whose answer was lost rejects and is counted once': async (setup) => {
    const { add } = addingCounter(setup.backend.counter)
    await losing(setup, () => add(setup.key, 1000, 9, noon, 2))
    const { count } = await add(setup.key, 1000, 9, noon, 2)
    oneOf(count, [2, 4], 'hits must not be counted twice')
  },
  'a lease whose answer was lost rejects and is replaced once': async (setup) => {
    const { lease } = setup.backend
    await losing(setup, () => lease.replace(setup.key, null, { owner: 'a', renewal: 1 }))
    oneOf(await lease.read(setup.key), [null, { owner: 'a', renewal: 1 }], 'held or not')
    await losing(setup, () => lease.read(setup.key))
  },
}

export const lostAnswerScripts: readonly CaseScript<LossyBackend>[] = scriptsOf({
  group: 'lost answers',
  promise: 'Backend: a call whose answer was lost rejects, and is never sent a second time',
  scripts,
  async setUp({ backend, loseNextAnswer }: LossyBackend) {
    const spec = sampleSpec('due')
    await backend.store.prepare([spec])
    const samples = backend.store.collection(spec)
    return { backend, loseNextAnswer, samples, key: `kit/${uniqueName()}` }
  },
})

/**
 * The cases for a lost answer: the call must reject, and the command must not be sent again. They need
 * a way to lose answers, which every driver, or a proxy in front of it, has.
 */
export function lostAnswerCases(make: () => Promise<LossyBackend>): readonly ConformanceCase[] {
  return lostAnswerScripts.map((script) => caseOf(script, async (play) => play(await make())))
}
