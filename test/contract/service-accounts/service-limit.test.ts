import { decodeJwt } from 'jose'
import { expect } from 'vitest'
import { loadKeyRing } from '../../../src/crypto/key-ring.js'
import { signAccess } from '../../../src/crypto/tokens.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { testSigningKey } from '../../support/keys.js'
import { signedInPerson } from '../../support/people/people.js'

eachHost.it(
  'a service principal is refused as no person, and counted all the same',
  async (kind) => {
    const selfPerSession = { limit: 3, windowMs: 60_000 }
    const host = await openHostAtOneAddress(
      {
        surfaces: {
          operator: { baseUrl: 'https://admin.example.com', rateLimits: { selfPerSession } },
          client: { baseUrl: 'https://app.example.com' },
        },
      },
      kind,
    )
    const own = await signedInPerson(host, 'operator')
    const { iat = 0, exp = 0, iss = '' } = decodeJwt(own.bearer)
    const ring = await loadKeyRing({ current: await testSigningKey() })
    const bearer = await signAccess(
      {
        ...{ iss, iat, exp, aud: 'service', sub: 'robot', jti: 'j', tokenUse: 'access' },
        ...{ memberships: [], amr: [], authTime: iat },
      },
      ring,
    )
    const outcomes: string[] = []
    for (let n = 0; n < 5; n += 1) {
      outcomes.push(outcomeOf(await host.send('GET', '/v1/auth/operator/me', { bearer })))
    }
    const refused = '403 human_principal_required'
    const limited = '429 rate_limited'
    expect(outcomes).toEqual([refused, refused, refused, limited, limited])
    // Its requests are nobody else's.
    const mine = await host.send('GET', '/v1/auth/operator/me', { bearer: own.bearer })
    expect(outcomeOf(mine)).toBe('200')
  },
)
