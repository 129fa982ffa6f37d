import type { Mail } from 'postern'

/** The language of each user's mails. */
export interface MailLanguages {
  /** The language that the reader is known to use. Null where it is unknown, or where the mail's own languages decide. */
  of(mail: Mail): string | null
  /** Remembers the language of a mail that confirms an address, where the browser named one. */
  learn(mail: Mail, locale: string): void
}

const most = 1_000

/**
 * A mail that confirms an address is written in the language of the browser that asked for it. The same language then goes
 * for all later mails to that address: notices to the owner bring no language, because a thief may have caused them. A
 * product keeps the language beside its users, where they can choose it. The demo keeps it until the process ends, for
 * the newest thousand addresses.
 */
export function mailLanguages(): MailLanguages {
  const known = new Map<string, string>()
  const key = ({ surface, to }: Mail) => `${surface} ${to}`
  return {
    of: (mail) => (confirmsAddress(mail) ? null : (known.get(key(mail)) ?? null)),
    learn(mail, locale) {
      if (mail.languages === undefined || !confirmsAddress(mail)) return
      known.delete(key(mail))
      known.set(key(mail), locale)
      for (const oldest of known.keys()) {
        if (known.size <= most) return
        known.delete(oldest)
      }
    },
  }
}

const confirmsAddress = ({ template }: Mail): boolean =>
  template === 'verifyEmail' || template === 'changeEmail'
