import type { Mail } from 'postern'
import { mailWriter, type WrittenMail } from 'postern/mails'
import { mailLanguages } from './mail-languages.ts'

/** Where written mails go: a product hands them to its transport here. A rejection is logged by the library. */
export interface ConsoleMailer {
  send(mail: Mail, written: WrittenMail): Promise<void>
}

export interface KeptMail extends WrittenMail {
  /** Its name in addresses. It holds for as long as the process runs. */
  readonly id: number
  readonly mail: Mail
}

/** The mails of this process. Links in them stay good for hours, so show them on this machine only. */
export interface MailBox {
  /** Newest first. */
  readonly mails: readonly KeptMail[]
  send(mail: Mail): Promise<void>
}

const kept = 50

/** Writes mails in words, hands them on to `mailer`, and keeps the newest for the demo's pages. `now` is in milliseconds. */
export function mailBox(mailer: ConsoleMailer, now: () => number): MailBox {
  const write = mailWriter({ product: 'Postern Demo', now })
  const languages = mailLanguages()
  const mails: KeptMail[] = []
  let sent = 0
  return {
    mails,
    async send(mail) {
      const written = write(mail, { locale: languages.of(mail) })
      languages.learn(mail, written.locale)
      sent += 1
      mails.unshift({ ...written, id: sent, mail })
      mails.splice(kept)
      await mailer.send(mail, written)
    },
  }
}
