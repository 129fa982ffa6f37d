import { expect, it } from 'vitest'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, finish, ticketOf } from '../../support/people/authenticator.js'

const wide = (code: string) =>
  code.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
const arabic = (code: string) =>
  code.replaceAll(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit)))

eachSurface.describe('a code as people type it', (surface) => {
  it.each<[string, (code: string) => string]>([
    ['with the gap that apps show', (code) => `${code.slice(0, 3)} ${code.slice(3)}`],
    ['in full-width digits', wide],
    ['in Arabic digits, with blanks around', (code) => ` ${arabic(code)}\n`],
  ])('of an authenticator app is taken %s, once', async (_, typed) => {
    const host = await openHost(withoutLimits)
    const who = await enrolled(host, surface)
    const code = typed(await who.nextCode())
    const show = async () => {
      const mfaToken = await ticketOf(host, surface, who)
      return outcomeOf(await finish(host, surface, mfaToken, code))
    }
    expect([await show(), await show()]).toEqual(['200', '401 invalid_mfa_code'])
  })

  it('of a set of backup codes is taken in any spelling, once', async () => {
    const host = await openHost(withoutLimits)
    const who = await enrolled(host, surface)
    const spellings: ((code: string) => string)[] = [
      (code) => ` ${code.toLowerCase().replace('-', ' – ')} `,
      (code) => wide(code.replace('-', '')),
      (code) => code.replaceAll('0', 'O').replaceAll('1', 'l'),
    ]
    for (const [at, typed] of spellings.entries()) {
      const code = typed(who.backupCodes[at] ?? '')
      const show = async () => {
        const mfaToken = await ticketOf(host, surface, who)
        return outcomeOf(await finish(host, surface, mfaToken, code, 'backupCode'))
      }
      expect([await show(), await show()]).toEqual(['200', '401 invalid_mfa_code'])
    }
  })
})
