import type { Auth, AuthOptions, UserRecord } from 'postern'
import type { Call, Command } from '../frame/command.js'
import { Refusal } from '../frame/refusal.js'
import { withAuth } from '../frame/with-auth.js'

export const createOperatorCommand: Command = {
  help: `Usage: postern create-operator EMAIL [--name NAME] [--role ROLE]

Creates an operator and prints a link by which they choose their password. The
link is good once, for an hour, and leads to the page resetPassword of the
operator surface: give it to that person alone. Run the command again for
another link, as long as the operator has no password.

  --role  the systemRole, such as administrator. Default super_admin, which has
          the permissions of the system under roleAuthorizer()
  --name  the name that mails and pages show`,
  flags: { name: { type: 'string' }, role: { type: 'string' } },
  async run(call) {
    const options = await call.config()
    const { email, name, role } = given(call)
    const link = await withAuth(call, quietly(options), async (auth) => {
      const operator = await operatorOf(auth, { email, name, systemRole: role })
      return auth.operator.users.passwordLink(operator.id, { actorId: 'cli' })
    })
    if (link === null) throw new Refusal(`The operator ${email} is disabled.`)
    const { url, expiresAt } = link
    const until = new Date(expiresAt).toISOString()
    if (call.json) call.out(JSON.stringify({ email, url, expiresAt: until }))
    else call.out(url)
    call.err(`${email} chooses a password there, once, until ${until}.`)
    return 0
  },
}

/** No mail is due here, and a configuration whose mail server is away still makes an operator. */
function quietly(options: AuthOptions): AuthOptions {
  return { ...options, mailer: { send: async () => undefined } }
}

interface NewOperator {
  readonly email: string
  readonly name: string
  readonly systemRole: string
}

/**
 * Creates the operator, or finds the one that an earlier call created, who never signed in and has no password and no
 * provider. Any other account is refused: a link would take it over, without a word to its owner.
 */
async function operatorOf({ operator }: Auth, wanted: NewOperator): Promise<UserRecord> {
  const { users, identities } = operator
  const known = await users.findByEmail(wanted.email)
  if (known === null) {
    return users.create({ ...wanted, emailVerified: true }, { actorId: 'cli' })
  }
  const isUntouched = !known.hasPassword && known.lastLoginAt === null && known.emailVerified
  // An import may have brought a way in.
  const hasProvider = (await identities.list(known.id)).length > 0
  if (!isUntouched || hasProvider) {
    throw new Refusal(
      `There is an operator ${wanted.email} already, who stays as they are. They can ask for a new password at POST /v1/auth/operator/password/forgot.`,
    )
  }
  if (known.systemRole !== wanted.systemRole) {
    throw new Refusal(
      `There is an operator ${wanted.email} already, with the role ${known.systemRole}, which stays. Say --role ${known.systemRole} for another link. To give them another role, call auth.operator.users.update("${known.id}", { systemRole: "${wanted.systemRole}" }), or create an operator with another address.`,
    )
  }
  return known
}

function given({ words, flags }: Call): {
  readonly email: string
  readonly name: string
  readonly role: string
} {
  const [email = '', ...more] = words
  if (email === '' || more.length > 0) {
    throw new Refusal('Say one address: postern create-operator ada@example.org', 2)
  }
  const { name = '', role = 'super_admin' } = flags
  return { email, name: String(name), role: String(role) }
}
