import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { eventsOf, outcomeOf } from '../../support/hosts/open-host.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { configHost } from './config-host.js'
import { editElsewhere, withoutPauses } from './overtaken-host.js'

const environmentsUpdate = 'operator_module_environments.update'
const environmentsGet = 'operator_module_environments.get'
const revisionsInsert = 'operator_module_revisions.insert'
const modulesUpdate = 'operator_modules.update'
const failed = '503 service_unavailable'

async function opened() {
  const faulty = faultyBackend(memory())
  const host = await configHost({ backend: faulty.backend, random: withoutPauses })
  await host.auth.close()
  const stored = moduleCollectionsOf(faulty.backend.store, '')
  const edit = async (sender: string, more: object = {}) =>
    outcomeOf(await host.patch({ config: { sender }, ...more }))
  const activate = async (environment: string) =>
    outcomeOf(await host.change('PUT', '/active-environment', { environment }))
  const module = async () => {
    const found = await stored.modules.get('mail')
    if (found === null) throw new Error('no module mail')
    return found
  }
  return { faulty, host, stored, edit, activate, module }
}

describe('an edit whose write has no answer', () => {
  it('is made, and told of, when the write took effect', async () => {
    const { faulty, host, edit } = await opened()
    faulty.failNext(environmentsUpdate, 'after')
    expect(await edit('mine')).toBe('200')
    expect(await host.raw()).toEqual({ revision: 2, values: { sender: 'mine' } })
    expect(eventsOf(host, 'config.changed')).toMatchObject([{ revision: 2 }])
  })

  it('is not made, and not told of, when another process wrote the next revision', async () => {
    const { faulty, host, stored, edit } = await opened()
    faulty.onCall(environmentsUpdate, async () => {
      await editElsewhere(stored, 'production', { sender: 'other' })
      faulty.failNext(environmentsUpdate, 'before')
    })
    expect(await edit('mine')).toBe(failed)
    expect(await host.raw()).toEqual({ revision: 2, values: { sender: 'other' } })
    expect(eventsOf(host, 'config.changed')).toEqual([])
  })
})

describe('a switch of the active environment whose write fails', () => {
  it('is not said to be made where the environment was active, and the module moved otherwise', async () => {
    const { faulty, host, stored, activate, module } = await opened()
    const { activations } = await module()
    faulty.onCall(modulesUpdate, async () => {
      // As a process does that says that it still runs.
      const { revision } = await module()
      await stored.modules.update('mail', { revision }, { revision: revision + 1 })
      faulty.failNext(modulesUpdate, 'before')
    })
    expect(await activate('production')).toBe(failed)
    expect((await module()).activations).toBe(activations)
    expect(eventsOf(host, 'config.activated')).toEqual([])
  })

  it('is not said to be made by this request where others moved the module twice', async () => {
    const { faulty, host, stored, activate, module } = await opened()
    faulty.onCall(modulesUpdate, async () => {
      const { revision, activations } = await module()
      const moved = { activations: activations + 1, revision: revision + 2 }
      const next = { activeEnvironment: 'sandbox', ...moved }
      await stored.modules.update('mail', { revision }, next)
      faulty.failNext(modulesUpdate, 'before')
    })
    expect(await activate('sandbox')).toBe(failed)
    expect(eventsOf(host, 'config.activated')).toEqual([])
  })
})

describe('an edit that others overtake again and again', () => {
  /** Of each attempt, the time that it takes and the edit of another process that comes first. */
  async function overtakenBy(times: number, ms: number) {
    const given = await opened()
    const { faulty, host, stored } = given
    let attempts = 0
    const overtake = async () => {
      attempts += 1
      if (attempts > times) return
      await editElsewhere(stored, 'production', { sender: `other ${attempts}` })
      await host.clock.advance(ms)
      faulty.onCall(environmentsUpdate, overtake)
    }
    faulty.onCall(environmentsUpdate, overtake)
    return { ...given, attempts: () => attempts }
  }

  it('goes on for as long as the others are fast', async () => {
    const { edit, attempts } = await overtakenBy(60, 0)
    expect([await edit('mine'), attempts()]).toEqual(['200', 61])
  })

  it('goes on for five seconds, however often it lost', async () => {
    const { edit, attempts } = await overtakenBy(60, 80)
    expect([await edit('mine'), attempts()]).toEqual(['200', 61])
  })

  it('gives up after fifty attempts and five seconds', async () => {
    const { host, edit, attempts } = await overtakenBy(60, 100)
    expect([await edit('mine'), attempts()]).toEqual([failed, 50])
    expect((await host.raw()).values).toEqual({ sender: 'other 50' })
  })
})

describe('an edit behind others of its process', () => {
  it.each([
    [9_999, '200'],
    [10_000, failed],
  ])('that waited %i ms for a slow store is answered %s', async (ms, outcome) => {
    const { faulty, host, edit } = await opened()
    const later: Promise<string>[] = []
    const readings = () => faulty.calls.filter((one) => one === environmentsGet).length
    faulty.onCall(revisionsInsert, async () => {
      for (const sender of ['second', 'third']) {
        const before = readings()
        later.push(edit(sender))
        // It has read what it edits, and stands in line.
        await expect.poll(readings).toBe(before + 1)
      }
      await host.clock.advance(4_000)
      // Of the second one.
      faulty.onCall(revisionsInsert, async () => {
        await host.clock.advance(ms - 8_000)
      })
    })
    faulty.onCall(environmentsUpdate, async () => {
      await host.clock.advance(4_000)
    })
    expect(await edit('first')).toBe('200')
    expect(await Promise.all(later)).toEqual(['200', outcome])
    expect((await host.raw()).values).toEqual({ sender: outcome === '200' ? 'third' : 'second' })
  })
})

describe('a module or an environment whose row is gone', () => {
  it('is answered by its error, and not by a failure of the server', async () => {
    const { host, stored, edit } = await opened()
    await stored.environments.take('mail/production')
    expect(outcomeOf(await host.get('/mail/environments/production'))).toBe(
      '404 environment_not_found',
    )
    expect(await edit('mine')).toBe('404 environment_not_found')
    expect(await host.auth.config.reencrypt()).toEqual({ reencrypted: 0, damaged: [] })
    await stored.modules.take('mail')
    expect(outcomeOf(await host.get('/mail/environments/production'))).toBe(failed)
  })

  it('has no history, also when it goes just before that is read', async () => {
    const { faulty, host, stored } = await opened()
    faulty.onCall(environmentsGet, () => {
      faulty.onCall(environmentsGet, async () => {
        await stored.environments.take('mail/production')
      })
    })
    const history = await host.get('/mail/environments/production/revisions')
    expect(outcomeOf(history)).toBe('404 environment_not_found')
  })
})
