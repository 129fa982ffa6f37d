import type { Mail, Mailer } from 'postern'

export interface MailedToken {
  readonly template: Mail['template']
  readonly token: string
}

export interface Mailbox extends Mailer {
  /** The oldest token mailed to an address and not handed out yet; waits for one. */
  next(to: string): Promise<MailedToken>
  /** Forgets what was mailed to an address so far. */
  empty(to: string): void
}

/** Where a host's mail goes, so that a test can click the links in it. */
export function mailbox(): Mailbox {
  const arrived = new Map<string, MailedToken[]>()
  const awaited = new Map<string, ((mailed: MailedToken) => void)[]>()
  const listOf = <T>(lists: Map<string, T[]>, to: string): T[] => {
    const list = lists.get(to) ?? []
    lists.set(to, list)
    return list
  }
  return {
    async send({ template, to, data }) {
      if (!('token' in data)) return
      const mailed = { template, token: data.token }
      const waiting = listOf(awaited, to).shift()
      if (waiting === undefined) listOf(arrived, to).push(mailed)
      else waiting(mailed)
    },
    empty: (to) => void arrived.delete(to),
    async next(to) {
      const mailed = listOf(arrived, to).shift()
      return mailed ?? new Promise((resolve) => listOf(awaited, to).push(resolve))
    },
  }
}
