import { describe, expect, it } from 'vitest'
import type { RefreshClaims } from '../../../src/crypto/token-format.js'
import { chooseToken, tokensToEnd } from '../../../src/domain/sessions/refresh-reading.js'
import type { Judged } from '../../../src/domain/sessions/tokens.js'
import { AuthError } from '../../../src/errors/index.js'

type Verified = Judged<RefreshClaims>

/** A text as long as a token, for each name. */
const long = (name: string): string => name.padEnd(400, '.')

const genuine = (claims: Partial<RefreshClaims> = {}): Verified => ({
  ok: true,
  kid: 'k',
  claims: {
    tokenUse: 'refresh',
    iss: 'https://app.example.com',
    aud: 'client',
    sub: 'ada',
    jti: 'j',
    iat: 1,
    exp: 2,
    amr: ['pwd'],
    authTime: 1,
    sid: 's',
    gen: 1,
    ...claims,
  },
})

const unreachable = new AuthError('session_enforcement_unavailable')

/** Tokens of these names, each with what its verification says; of an error, it fails with it. */
function verifying(known: Readonly<Record<string, Verified | AuthError>>) {
  return async (token: string): Promise<Verified> => {
    const is = known[token.replace(/\.+$/, '')]
    if (is instanceof AuthError) throw is
    return is ?? { ok: false, reason: 'invalid' }
  }
}

const unknownKey: Verified = { ok: false, reason: 'unknownKey' }

describe('of several refresh cookies', () => {
  it.each([
    ['one whose key is still looked for', unreachable],
    ['one whose key is not there', unknownKey],
    ['one that was not minted here', { ok: false, reason: 'invalid' } as const],
  ])('a genuine one counts beside %s, in either place', async (_what, other) => {
    const verify = verifying({ good: genuine(), other })
    for (const shown of [
      [long('good'), long('other')],
      [long('other'), long('good')],
    ]) {
      expect(await chooseToken(verify, shown)).toBe(long('good'))
      expect(await tokensToEnd(verify, shown)).toEqual([long('good')])
    }
  })

  it('none counts as worthless while the key of one is still looked for', async () => {
    const verify = verifying({ other: unreachable, lost: unknownKey })
    const shown = [long('junk'), long('lost'), long('other')]
    await expect(chooseToken(verify, shown)).rejects.toBe(unreachable)
    expect(await tokensToEnd(verify, shown)).toEqual([long('other')])
  })

  it('the one whose key is not there is refused as such, not one that nobody minted', async () => {
    const verify = verifying({ lost: unknownKey })
    const shown = [long('junk'), long('lost')]
    expect(await chooseToken(verify, shown)).toBe(long('lost'))
    expect(await tokensToEnd(verify, shown)).toEqual([long('lost')])
  })

  it('of two logins of one second, the same one counts in either place', async () => {
    const verify = verifying({
      a: genuine({ sid: 'a', gen: 9 }),
      b: genuine({ sid: 'b', gen: 1 }),
    })
    expect(await chooseToken(verify, [long('a'), long('b')])).toBe(long('b'))
    expect(await chooseToken(verify, [long('b'), long('a')])).toBe(long('b'))
  })
})
