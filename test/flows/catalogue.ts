import { administrationFlows } from './administration-flows.js'
import { deviceFlows } from './device-flows.js'
import type { Flow } from './flow.js'
import { loginFlows } from './login-flows.js'
import { mailFlows } from './mail-flows.js'
import { oauthFlows } from './oauth-flows.js'
import { passkeyFlows } from './passkey-flows.js'
import { secondFactorFlows } from './second-factor-flows.js'
import { sessionFlows } from './session-flows.js'

/**
 * Every operation of the table, with at least one way to have it succeed: what leads up to it, and
 * the request itself. The suites that walk all operations take their flows from here and add what
 * they ask of them. A pathway is a flow with what each control makes of its last step. An event's
 * scenario of a success will be a flow with the events that `step` has to cause, whose subject is
 * `userId` or the walker; its refusals keep preparations of their own. A setting's effect will prepare
 * a flow, or several, and report the outcomes of their steps. A fault's flow will prepare inside a
 * world whose `send` takes notes of every token handed out, handed over as `walk.host`, and send
 * `step` once under the fault and again after it; what it may answer then stays with the faults.
 * So a flow sends through `walk.host` alone, asks for no option of a suite, makes what it needs
 * itself, and leaves judging to who walks it.
 */
export const flows: readonly Flow[] = [
  ...loginFlows,
  ...mailFlows,
  ...secondFactorFlows,
  ...passkeyFlows,
  ...deviceFlows,
  ...sessionFlows,
  ...oauthFlows,
  ...administrationFlows,
]
