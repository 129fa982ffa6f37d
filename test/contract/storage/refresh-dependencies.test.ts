import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { doorNames, refreshDoors, signedInFor } from '../../support/people/refresh-doors.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const rows = eachSurface.cells.flatMap((surface) => doorNames.map((door) => ({ surface, door })))

it.each(rows)(
  '/$door [$surface] is 503 while any part that it asks is away, and uses nothing up',
  async ({ surface, door }) => {
    const store = faultyBackend(memory())
    const host = await openHost({ ...withoutLimits, backend: store.backend })
    const who = await signedInFor(door)(host, surface)
    const sid = textOf(decodeJwt(who.refreshToken), 'sid')
    const { families } = storedIn(host, surface)
    const before = await families.get(sid)
    const parts = {
      'the refresh rows': [`${surface}_refresh_tokens.get`, `${surface}_refresh_tokens.update`],
      ...(door !== 'session' && { 'the write': [`${surface}_refresh_tokens.update`] }),
      'the accounts': [`${surface}_users.get`],
      'the denylist': ['denylist.find'],
      // With the maximum age of a session among them; read once in 30 seconds.
      'the settings': ['operator_config_modules.get', 'operator_module_environments.get'],
    }
    for (const [part, calls] of Object.entries(parts)) {
      await host.auth.close()
      await host.clock.advance(30_001)
      for (const call of calls) store.failNext(call, 'before', Number.POSITIVE_INFINITY)
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const refused = await refreshDoors[door](host, surface, who)
        expect([part, outcomeOf(refused)]).toEqual([part, '503 session_enforcement_unavailable'])
        expectProblem(refused, 503, 'session_enforcement_unavailable')
        // Neither rotated nor cleared: the client keeps what it has.
        expect(refused.setCookies).toEqual([])
        expect(refused.headers.get('x-refresh-outcome')).toBeNull()
      }
      store.heal()
      expect(await families.get(sid)).toEqual(before)
      const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer: who.bearer })
      expect([part, outcomeOf(me)]).toEqual([part, '200'])
    }
    const again = await refreshDoors[door](host, surface, who)
    expect(again.status).toBe(200)
    if (door !== 'session') expect(again.headers.get('x-refresh-outcome')).toBe('rotated')
    expect(host.events.filter(({ type }) => /replay|terminated|rolledBack/i.test(type))).toEqual([])
  },
)
