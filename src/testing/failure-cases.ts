import assert from 'node:assert/strict'
import type { Backend } from '../ports/backend.js'
import type { Collection } from '../ports/store.js'
import { addingCounter } from './shared/adding-counter.js'
import { type CaseScript, type Scripts, scriptsOf, uniqueName } from './shared/conformance-case.js'
import { fill, type Sample, sample, sampleSpec } from './shared/sample.js'

/** A backend that can be made to fail for good. */
export interface BreakableBackend {
  readonly backend: Backend
  breakBackend(): void | Promise<void>
}

interface Setup extends Backend {
  readonly samples: Collection<Sample>
  readonly key: string
}

type Call = readonly [name: string, call: () => Promise<unknown>]

const noon = Date.UTC(2030, 5, 15, 12)

async function allReject(calls: readonly Call[]): Promise<void> {
  for (const [name, call] of calls) {
    const answer = `${name} on a failing backend must reject, but it answered`
    await assert.rejects(call(), answer)
  }
}

const scripts: Scripts<Setup> = {
  'reads of a failing backend reject, and never answer "not found"': async ({ samples }) => {
    await allReject([
      ['get', () => samples.get('a')],
      ['find', () => samples.find({ team: 'x' }, { limit: 1 })],
      ['due', () => samples.due(noon, 1)],
    ])
  },
  'writes of a failing backend reject, and never answer null or false': async ({ samples }) => {
    await allReject([
      ['insert', () => samples.insert(sample('b'))],
      ['update', () => samples.update('a', { count: 0 }, { count: 1 })],
      ['take', () => samples.take('a')],
      ['guarded take', () => samples.take('a', { count: 0 })],
    ])
  },
  'a sweep of a failing backend rejects': async ({ samples, denylist, counter }) => {
    await allReject([
      ['sweep', () => samples.sweep(noon, 1)],
      ['denylist.sweep', () => denylist.sweep(noon, 1)],
      ['counter.sweep', () => counter.sweep(noon, 1)],
    ])
  },
  'a denylist of a failing backend rejects: "not listed" is never a guess': async (setup) => {
    const { denylist, key } = setup
    await allReject([
      ['put', () => denylist.put([{ id: key, reason: 'revoked', expiresAt: noon }])],
      ['find', () => denylist.find([key])],
    ])
  },
  'a lease of a failing backend rejects': async ({ lease, key }) => {
    await allReject([
      ['read', () => lease.read(key)],
      ['replace', () => lease.replace(key, null, { owner: 'a', renewal: 1 })],
    ])
  },
  'a counter of a failing backend rejects: no hit is let through': async ({ counter, key }) => {
    await allReject([
      ['hit', () => counter.hit(key, 1000, 5, noon)],
      ['forgive', () => counter.forgive(key, 1)],
    ])
  },
  'add of a failing backend rejects: no hit is let through': async ({ counter, key }) => {
    const { add } = addingCounter(counter)
    await allReject([['add', () => add(key, 1000, 5, noon, 2)]])
  },
}

export const failureScripts: readonly CaseScript<BreakableBackend>[] = scriptsOf({
  group: 'failures',
  promise: 'Backend: a call that cannot be carried out rejects; a failure is never an answer',
  scripts,
  async setUp({ backend, breakBackend }: BreakableBackend) {
    const spec = sampleSpec('sliding')
    await backend.store.prepare([spec])
    const samples = backend.store.collection(spec)
    await fill(samples, [sample('a', { team: 'x', expiresAt: 1 })])
    await breakBackend()
    return { ...backend, samples, key: `kit/${uniqueName()}` }
  },
})
