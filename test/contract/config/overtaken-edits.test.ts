import { describe, expect, it } from 'vitest'
import { moduleCollectionsOf } from '../../../src/model/configuration.js'
import { outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { type ConfigHost, configHost, mailModule } from './config-host.js'

describe.each([
  ['an edit', 'PATCH', '', { config: { sender: 'x' } }],
  ['an activation', 'PUT', '/active-environment', { environment: 'sandbox' }],
] as const)('%s that waited for its validator', (_what, method, path, body) => {
  /** Where something happens while the validator thinks: the reply, and what is stored of the module. */
  async function around(ms: number, happens: (host: ConfigHost) => unknown) {
    const waits = async () => {
      await host.clock.advance(ms)
      await happens(host)
    }
    const modules = [mailModule({ validatePatch: waits, validateActivation: waits })]
    const host: ConfigHost = await configHost({ modules })
    const outcome = outcomeOf(await host.change(method, path, body))
    const { modules: stored } = moduleCollectionsOf(host.backend.store, '')
    const { activeEnvironment, activations } = (await stored.get('mail')) ?? {}
    return { outcome, edited: (await host.raw()).values, activeEnvironment, activations }
  }

  const unchanged = { edited: {}, activeEnvironment: 'production', activations: 0 }

  it('is refused where its session has ended, and changes nothing', async () => {
    const ends = (host: ConfigHost) => host.auth.operator.terminateSessionsOf(host.operator.id)
    expect(await around(1001, ends)).toEqual({ outcome: '401 session_revoked', ...unchanged })
  })

  it('is refused where its account was disabled, and changes nothing', async () => {
    const disables = ({ operator, ...host }: ConfigHost) =>
      storedIn(host, 'operator').users.update(operator.id, { enabled: true }, { enabled: false })
    expect(await around(1001, disables)).toEqual({ outcome: '403 permission_denied', ...unchanged })
  })

  it('is made where the session goes on', async () => {
    const made = await around(9000, () => {})
    expect(made.outcome).toBe('200')
    expect(made).not.toEqual({ outcome: '200', ...unchanged })
  })
})
