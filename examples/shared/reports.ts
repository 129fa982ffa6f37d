// What the hosts of this folder are for: client users read reports, if an operator lets them.
import { AuthError, type Principal } from 'postern'
import { auth } from './auth.ts'

// Defining the same role again changes nothing, so each start does it.
const readers = await auth.client.roles.define({
  name: 'report reader',
  permissions: ['reports.read'],
})

export function reportsFor(userId: string) {
  return { reader: userId, reports: [{ month: '2026-01', visits: 1204 }] }
}

/** Lets a client user read the reports, from the user's next request on. `body` is what the operator sent. */
export async function shareReports(body: unknown, operator: Principal): Promise<void> {
  const userId = typeof body === 'object' && body !== null && 'userId' in body ? body.userId : null
  if (typeof userId !== 'string') {
    throw new AuthError('invalid_request', { detail: 'userId must be a text.' })
  }
  await auth.client.roles.bind({ userId, roleId: readers.id }, { actorId: operator.userId })
}

const { OPERATOR_EMAIL: email, OPERATOR_PASSWORD: password } = process.env

const { users: operators } = await auth.operator.users.list({ limit: 1 })

// The first operator is made in code, which asks for no permission. Others register or are invited. It is not made again
// at a start after it was deleted, or got another address, as long as there is another operator. Take both variables out
// of the environment after the first start: this password would let anyone in who ever knew it.
if (email && password && operators.length === 0) {
  const { id: userId } = await auth.operator.users.create({ email, password, emailVerified: true })
  const { id: roleId } = await auth.operator.roles.define({
    name: 'report manager',
    permissions: ['reports.share'],
  })
  await auth.operator.roles.bind({ userId, roleId })
}
