import { Router } from 'express'
import { type AuditRecord, type Auth, AuthError } from 'postern'
import { z } from 'zod'
import type { OperatorGuards } from './operator-guards.ts'
import { pageForm, readInput, surfaceIn } from './read-input.ts'
import type { AuditReply } from './replies.ts'

const query = z.strictObject({
  ...pageForm,
  of: z.enum(['target', 'actor']).default('target'),
  /** An id, or the address of a user of the surface. */
  account: z.string().min(1).max(254),
  action: z.string().min(1).max(100).optional(),
  outcome: z.enum(['success', 'failure']).optional(),
})

type Query = z.infer<typeof query>

/** The most records that one request looks through. A search for something rare goes on with `next`. */
const mostRead = 1000
const readAtOnce = 200

/** The audit log of both surfaces, by the account that acted or that was concerned. */
export function auditRoutes(auth: Auth, guards: OperatorGuards): Router {
  const router = Router()

  async function idOf(surface: 'operator' | 'client', account: string): Promise<string> {
    if (!account.includes('@')) return account
    const user = await auth[surface].users.findByEmail(account)
    if (user === null) throw new AuthError('user_not_found')
    return user.id
  }

  /** All records of an account, the newest first, read in pages. */
  async function* recordsOf(surface: 'operator' | 'client', { of, account, after }: Query) {
    const { audit } = auth[surface]
    const id = await idOf(surface, account)
    let start = after
    do {
      const page = { limit: readAtOnce, ...(start === undefined ? {} : { after: start }) }
      const read = of === 'actor' ? audit.ofActor(id, page) : audit.ofTarget(id, page)
      const { records, next } = await read
      yield* records
      start = next ?? undefined
    } while (start !== undefined)
  }

  /** The store finds records by account alone; the rest of the search goes through them. */
  async function search(surface: 'operator' | 'client', asked: Query) {
    const found: AuditRecord[] = []
    let read = 0
    let last: string | null = null
    for await (const record of recordsOf(surface, asked)) {
      if (read === mostRead) return { records: found, next: last }
      if (matches(record, asked)) {
        if (found.length === asked.limit) return { records: found, next: found.at(-1)?.id ?? null }
        found.push(record)
      }
      read += 1
      last = record.id
    }
    return { records: found, next: null }
  }

  /** An operator acts on either surface, so an id that one does not know may be the other's. */
  async function accountOf(surface: 'operator' | 'client', id: string) {
    const surfaces =
      surface === 'operator' ? ['operator' as const] : (['client', 'operator'] as const)
    for (const one of surfaces) {
      const user = await auth[one].users.get(id)
      if (user === null) continue
      const { kind } = user
      return [id, { surface: one, kind, label: kind === '' ? user.email : user.name }] as const
    }
    return null
  }

  router.get('/audit/:surface', guards.reads('console.audit.read'), async (request, response) => {
    const surface = surfaceIn(request.params)
    const { records, next } = await search(surface, readInput(query, request.query))
    const ids = new Set(records.flatMap(({ actorId, targetId }) => [actorId, targetId]))
    const known = [...ids].filter((id) => id !== null)
    const named = await Promise.all(known.map((id) => accountOf(surface, id)))
    const accounts = Object.fromEntries(named.filter((one) => one !== null))
    response.json({ records, accounts, next } satisfies AuditReply)
  })
  return router
}

/** `session` finds `session.terminated` and its kin. */
function matches({ action, outcome }: AuditRecord, asked: Query): boolean {
  const isAction =
    asked.action === undefined || action.toLowerCase().includes(asked.action.toLowerCase())
  return isAction && (asked.outcome === undefined || outcome === asked.outcome)
}
