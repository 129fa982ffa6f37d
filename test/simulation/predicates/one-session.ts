import type { Predicate } from './judged.js'

/** I19: a login that waits for its second factor opens one session, whatever answers were lost meanwhile. */
export const oneSession: Predicate = ({ exchanges, openings }) => {
  const tickets = new Map(exchanges.map(({ request, ticket }) => [request, ticket]))
  const opened = new Map<string, string>()
  const violations: string[] = []
  for (const { session, request } of openings) {
    const ticket = tickets.get(request) ?? ''
    const other = opened.get(ticket)
    if (ticket !== '' && other !== undefined)
      violations.push(`${other} and ${session} of one login`)
    if (ticket !== '') opened.set(ticket, session)
  }
  return { premises: opened.size, violations }
}
