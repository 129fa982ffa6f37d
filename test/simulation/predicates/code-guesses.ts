import { judged, type Predicate } from './judged.js'

/** `mfaMaxAttempts` of a host that says nothing else. */
const most = 5

/** I18: of the wrong codes for one login that waits, no more than five are looked at. */
export const codeGuesses: Predicate = ({ exchanges }) => {
  const wrong = exchanges.filter(({ code }) => code === 'invalid_mfa_code')
  return judged(
    wrong.map((one) => [one, wrong.filter(({ ticket }) => ticket === one.ticket).length > most]),
  )
}
