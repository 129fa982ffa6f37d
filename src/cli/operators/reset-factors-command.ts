import type { AuthOptions } from 'postern'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { withAuth } from '../frame/with-auth.js'

type Surface = keyof AuthOptions['surfaces']

const surfaces: readonly Surface[] = ['operator', 'client']

export const resetFactorsCommand: Command = {
  help: `Usage: postern reset-factors EMAIL [--surface NAME]

Removes all second factors of a person who lost them: authenticator app,
passkeys and backup codes. It ends their sessions and forgets their trusted
devices, and the owner gets a mail. The password stays. Use it where no operator
can do it over HTTP, and check first that the person is the owner.

  --surface  operator or client: where the person has the account. Default
             operator`,
  flags: { surface: { type: 'string' } },
  async run(call) {
    const { email, surface } = given(call)
    await withAuth(call, await call.config(), async ({ [surface]: { users } }) => {
      const user = await users.findByEmail(email)
      if (user === null || !(await users.resetMfa(user.id, { actorId: 'cli' }))) {
        throw new Refusal(`There is no person ${email} on the ${surface} surface.`)
      }
    })
    if (call.json) call.out(JSON.stringify({ email, surface }))
    call.err(`${email} has no second factor now, and is signed out.`)
    return 0
  },
}

function given({ words, flags }: Call): { readonly email: string; readonly surface: Surface } {
  const [email = '', ...more] = words
  if (email === '' || more.length > 0) {
    throw new Refusal('Say one address: postern reset-factors ada@example.org', 2)
  }
  const surface = surfaces.find((name) => name === (flags['surface'] ?? 'operator'))
  if (surface === undefined) throw new Refusal('--surface takes operator or client.', 2)
  return { email, surface }
}
