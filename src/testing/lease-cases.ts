import assert from 'node:assert/strict'
import type { Lease, LeaseRecord } from '../ports/backend.js'
import {
  type BackendSubject,
  type CaseScript,
  type ConformanceCase,
  casesOf,
  type MakeBackend,
  race,
  rounds,
  type Scripts,
  scriptsOf,
  uniqueName,
} from './shared/conformance-case.js'

interface Setup {
  readonly lease: Lease
  /** The name of a lease of this case alone. */
  readonly name: string
}

function held(owner: string | null, renewal: number): LeaseRecord {
  return { owner, renewal }
}

const scripts: Scripts<Setup> = {
  'a lease nobody ever held reads as null': async ({ lease, name }) => {
    assert.equal(await lease.read(name), null)
  },
  'replace creates the record when null was seen': async ({ lease, name }) => {
    assert.equal(await lease.replace(name, null, held('a', 1)), true)
    assert.deepEqual(await lease.read(name), held('a', 1))
    assert.equal(await lease.read(`${name}/other`), null, 'leases of other names do not change')
  },
  'replace that saw null fails once there is a record, even a released one': async ({
    lease,
    name,
  }) => {
    await lease.replace(name, null, held('a', 1))
    assert.equal(await lease.replace(name, null, held('b', 1)), false)
    await lease.replace(name, held('a', 1), held(null, 2))
    assert.equal(await lease.replace(name, null, held('b', 3)), false, 'released is not absent')
    assert.deepEqual(await lease.read(name), held(null, 2))
  },
  'replace needs exactly the record it saw': async ({ lease, name }) => {
    assert.equal(await lease.replace(name, held('a', 1), held('a', 2)), false, 'nothing there yet')
    await lease.replace(name, null, held('a', 1))
    assert.equal(await lease.replace(name, held('b', 1), held('b', 2)), false, 'another owner')
    assert.equal(await lease.replace(name, held('a', 2), held('a', 3)), false, 'another renewal')
    assert.equal(await lease.replace(name, held('a', 0), held('b', 1)), false, 'an old renewal')
    assert.equal(await lease.replace(name, held(null, 1), held('b', 2)), false, 'not released')
    assert.deepEqual(await lease.read(name), held('a', 1), 'a refused replace changes nothing')
    assert.equal(await lease.replace(name, held('a', 1), held('a', 2)), true, 'exactly as seen')
    assert.deepEqual(await lease.read(name), held('a', 2))
  },
  'the fencing number grows from holder to holder and old sights never win': async ({
    lease,
    name,
  }) => {
    const history = ['a', 'a', null, 'b', null, 'c', 'a'].map((owner, at) => held(owner, at + 1))
    let seen: LeaseRecord | null = null
    for (const next of history) {
      assert.equal(await lease.replace(name, seen, next), true)
      assert.deepEqual(await lease.read(name), next, 'the number must be kept over a release')
      seen = next
    }
    const stale = [null, ...history.slice(0, -1)]
    for (const old of stale) {
      assert.equal(await lease.replace(name, old, held('thief', 99)), false, 'an old sight')
    }
    assert.deepEqual(await lease.read(name), seen)
  },
  'of eight racers that saw no record, one creates it': async ({ lease, name }) => {
    await rounds(async (round) => {
      const own = `${name}/${round}`
      const answers = await race(8, (racer) => lease.replace(own, null, held(`r${racer}`, 1)))
      assert.equal(answers.filter(Boolean).length, 1, 'exactly one racer may get the lease')
      assert.deepEqual(await lease.read(own), held(`r${answers.indexOf(true)}`, 1))
    })
  },
  'of eight racers that saw one record, one replaces it': async ({ lease, name }) => {
    await lease.replace(name, null, held(null, 0))
    let seen = held(null, 0)
    await rounds(async () => {
      const next = (racer: number) => held(`r${racer}`, seen.renewal + 1)
      const answers = await race(8, (racer) => lease.replace(name, seen, next(racer)))
      assert.equal(answers.filter(Boolean).length, 1, 'exactly one racer may get the lease')
      const winner = next(answers.indexOf(true))
      assert.deepEqual(await lease.read(name), winner)
      seen = winner
    })
  },
}

export const leaseScripts: readonly CaseScript<BackendSubject>[] = scriptsOf({
  group: 'lease',
  promise: 'Lease: replace needs exactly the record it saw; of racers that saw the same, one wins',
  scripts,
  async setUp({ backend: { lease, store } }: BackendSubject) {
    await store.prepare([])
    return { lease, name: `kit/${uniqueName()}` }
  },
})

/** The cases that every `Lease` must pass. */
export function leaseCases(make: MakeBackend): readonly ConformanceCase[] {
  return casesOf(leaseScripts, make)
}
