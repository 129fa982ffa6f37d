import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import type { Backend } from '../../src/ports/backend.js'
import { conformance, type Driver, type InterleavingOptions } from '../../src/testing/index.js'
import { claimsAdapter } from './claims-adapter.js'
import { plantedAdapters } from './planted-adapters.js'
import { halfWrittenStores, mistakenStores, staleStores } from './planted-stores.js'

/** What fails: each case's promise and what the author is told, by the case's name. */
async function failures(
  adapter: (driver: Backend) => Backend,
  interleavings: InterleavingOptions = {},
) {
  const told = new Map<string, { readonly promise: string; readonly message: string }>()
  const database = memory()
  const open = ({ through }: Driver) => ({ backend: adapter(through(database)) })
  for (const { name, promise, run } of conformance({ open, interleavings })) {
    await run().catch(({ message }: Error) => told.set(name, { promise, message }))
  }
  return told
}

describe('the kit proves itself', () => {
  it.each([
    ['an adapter that is right', (driver: Backend) => driver],
    ['unique values that are records of their own', (driver: Backend) => claimsAdapter(driver)],
  ])('finds nothing wrong with %s', async (_, adapter) => {
    expect([...(await failures(adapter))]).toEqual([])
  })

  it.each(plantedAdapters)(
    'finds "$fault" by the cases that name it, and no other',
    async (one) => {
      const told = await failures(one.adapter)
      expect([...told.keys()].sort()).toEqual([...one.found].sort())
      for (const [name, { promise, message }] of told) {
        expect(message).toContain(`case: ${name}\n  promise: ${promise}`)
        if (!name.startsWith('interleaved')) continue
        expect(message).toMatch(
          /A is .+\n {2}B is .+\n(.+\n)* {2}interleaving \(replay: '[ABC]+'\)\n/,
        )
        expect(message).toMatch(/\d+\. A: collection\.\w+\(.+ → /)
        expect(message).toMatch(/\d+\. B: collection\.\w+\(.+ → /)
      }
    },
  )

  it.each([...staleStores, ...halfWrittenStores, ...mistakenStores])(
    'finds "$fault", and tells its author',
    async ({ adapter, told }) => {
      const database = memory()
      const open = ({ through }: Driver) => ({ backend: adapter(through(database)) })
      for (const [name, piece] of Object.entries(told)) {
        const one = conformance({ open }).find((other) => other.name === name)
        const message = await one?.run().then(
          () => 'passes',
          (error: Error) => error.message,
        )
        expect(message).toContain(piece)
        expect(message).toContain(`case: ${name}`)
      }
    },
  )

  it('finds the same interleaving every time, and again by its letters alone', async () => {
    const [readThenWrite] = plantedAdapters
    if (!readThenWrite) throw new Error('none planted')
    const name = 'interleaved: of two updates with one guard, one wins'
    const first = (await failures(readThenWrite.adapter)).get(name)?.message
    expect((await failures(readThenWrite.adapter)).get(name)?.message).toBe(first)
    const replay = /replay: '(\w+)'/.exec(first ?? '')?.[1] ?? ''
    expect((await failures(readThenWrite.adapter, { replay })).get(name)?.message).toBe(first)
    const inTurn = await failures(readThenWrite.adapter, { replay: 'AAAABBB' })
    expect(inTurn.get(name)).toBeUndefined()
  })

  it.each([
    ['AAAABBBB', 'all racers had ended after 7 letters'],
    ['AAAAAB', 'its letter 5 is A, when only B could go on'],
    ['AACBBB', 'its letter 3 is C, when only A or B could go on'],
    ['aab', 'its letter 1 is a, when only A or B could go on'],
    ['AAAB', 'it ends after 4 letters, when only A or B could go on'],
    ['', 'it ends after 0 letters, when only A or B could go on'],
  ])('refuses to replay %o, which the racers cannot follow', async (replay, problem) => {
    const [readThenWrite] = plantedAdapters
    if (!readThenWrite) throw new Error('none planted')
    const name = 'interleaved: of two updates with one guard, one wins'
    const { message = '' } = (await failures(readThenWrite.adapter, { replay })).get(name) ?? {}
    expect(message).toContain(`'${replay}' } does not fit this case: ${problem}`)
  })
})
