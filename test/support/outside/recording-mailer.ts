import assert from 'node:assert/strict'
import type { Mail, Mailer } from '../../../src/ports/host.js'

export interface RecordingMailer extends Mailer {
  readonly sent: readonly Mail[]
  /** The newest mail of this template to this address; fails when there is none. */
  last<T extends Mail['template']>(template: T, to: string): Extract<Mail, { template: T }>
  count(to: string): number
  clear(): void
  /** From now on every mail fails. */
  fail(reason: Error | null): void
}

/** The outside edge of the process: strict about what it is given, and keeps it. */
export function recordingMailer(): RecordingMailer {
  const sent: Mail[] = []
  let failure: Error | null = null
  const isTemplate = <T extends Mail['template']>(
    mail: Mail,
    template: T,
  ): mail is Extract<Mail, { template: T }> => mail.template === template
  return {
    sent,
    async send(mail) {
      assert.match(mail.to, /^[^@\s]+@[^@\s]+$/)
      if (failure !== null) throw failure
      sent.push(mail)
    },
    last(template, to) {
      const found = sent.filter((mail) => mail.to === to)
      for (const mail of found.reverse()) if (isTemplate(mail, template)) return mail
      assert.fail(`no mail "${template}" to ${to}; sent: ${sent.map((m) => m.template).join(', ')}`)
    },
    count: (to) => sent.filter((mail) => mail.to === to).length,
    clear: () => sent.splice(0),
    fail: (reason) => {
      failure = reason
    },
  }
}
