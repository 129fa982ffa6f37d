import type { ContractHost } from '../../support/hosts/hosts.js'
import { mailedToken } from '../../support/hosts/open-host.js'
import { goodPassword } from '../../support/people/people.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'
import { type Theft, type Threat, told } from './threat.js'

const victim = 'victim@example.org'
const thiefsPassword = 'the thief chose this passphrase'

async function linkTo(host: ContractHost, email: string): Promise<string> {
  await registerHere(host, 'client', { email })
  return mailedToken(host, 'verifyEmail', email)
}

/** Elsewhere than the address was registered: the thief names a password. */
const open = async (host: ContractHost, token: string): Promise<string> =>
  told(await verifyWith(host, 'client', { token, newPassword: thiefsPassword }))

/** The thief read the mail; the link to somebody else is seen to work first. */
function linkTheft(end: (host: ContractHost) => Promise<unknown>, after: string) {
  return async (host: ContractHost): Promise<Theft> => {
    const theirs = await linkTo(host, 'somebody@example.org')
    const token = await linkTo(host, victim)
    return {
      twin: () => open(host, theirs),
      use: () => open(host, token),
      end: () => end(host),
      works: '200',
      after,
    }
  }
}

export const registrationLink: Threat = {
  ends: {
    'one use': async (host) => {
      const token = await linkTo(host, victim)
      return { use: () => open(host, token), works: '200', after: '400 invalid_token' }
    },
    'an account that the address has by now': linkTheft(
      (host) =>
        host.auth.client.users.create({
          email: victim,
          password: goodPassword,
          emailVerified: true,
        }),
      '400 invalid_token',
    ),
    'its expiry': linkTheft((host) => host.clock.advance(24 * 60 * 60_000), '400 token_expired'),
  },
  meanwhile: {
    'terminateAllSessions leaves it, since there is no account yet': linkTheft(
      (host) => host.auth.terminateAllSessions(),
      '200',
    ),
    "for ten minutes after its use, with the browser's key, it is answered again and changes nothing":
      async (host) => {
        const { cookie } = await registerHere(host, 'client', { email: victim })
        const token = await mailedToken(host, 'verifyEmail', victim)
        const use = async () => told(await verifyWith(host, 'client', { token }, cookie))
        await use()
        return { use, end: () => host.clock.advance(9 * 60_000), works: '200', after: '200' }
      },
  },
}
