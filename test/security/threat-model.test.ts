import { describe, expect, it } from 'vitest'
import { eachSampleStore } from '../support/hosts/matrix.js'
import * as factors from './threats/factor-threats.js'
import * as intents from './threats/intent-threats.js'
import { machineSecret } from './threats/machine-threats.js'
import { registrationLink } from './threats/registration-threats.js'
import * as sessions from './threats/session-threats.js'
import { openThreatened, type Theft, type Threat, threatRows } from './threats/threat.js'

/** By the first column of the page. */
const threats: Readonly<Record<string, Threat>> = {
  password: sessions.password,
  'password planted on an account before its mailbox was proved': sessions.plantedPassword,
  'refresh token': sessions.refreshToken,
  'access token': sessions.accessToken,
  mailbox: factors.mailbox,
  'code of an authenticator app': factors.totpCode,
  'backup code': factors.backupCode,
  'token of a trusted device': factors.trustedDevice,
  'step-up proof of a session': factors.stepUpProof,
  'mailed reset link': intents.resetLink,
  'mailed code, with the key of the browser or app that asked': intents.mailedCode,
  'mailed link of a registration': registrationLink,
  'login ticket': intents.loginTicket,
  'state of a sign-in with a provider': intents.oauthState,
  'exchange code of a sign-in in an app': intents.appCode,
  'answer to a passkey challenge': intents.passkeyChallenge,
  'client secret of a service account': machineSecret,
  'signing key': sessions.signingKey,
}

const rows = threatRows()

describe('the page of stolen things says what the code does', () => {
  it('names what is played here, and nothing else', () => {
    const played = Object.entries(threats).map(([stolen, { ends, meanwhile }]) => {
      return [stolen, { ends: Object.keys(ends), meanwhile: Object.keys(meanwhile) }] as const
    })
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(played))
  })

  const thefts = Object.entries(threats).flatMap(([stolen, threat]) => [
    ...Object.entries(threat.ends).map(([how, play]) => ({ stolen, threat, how, play })),
    ...Object.entries(threat.meanwhile).map(([how, play]) => ({ stolen, threat, how, play })),
  ])

  eachSampleStore.describe((kind) => {
    it.each(thefts)('a stolen $stolen: $how', async ({ threat, play }) => {
      const host = await (threat.open?.(kind) ?? openThreatened(kind))
      const theft: Theft = await play(host)
      expect(await (theft.twin ?? theft.use)()).toBe(theft.works)
      await theft.end?.()
      expect(await theft.use()).toBe(theft.after)
    })
  })
})
