import type { Suite } from '../harness/suite.js'
import { configuration } from './configuration.js'
import { connections } from './connections.js'
import { endurance } from './endurance.js'
import { grant } from './grant.js'
import { growth } from './growth.js'
import { guard } from './guard.js'
import { login } from './login.js'
import { refresh } from './refresh.js'
import { start } from './start.js'
import { statements } from './statements.js'
import { storage } from './storage.js'
import { sweep } from './sweep.js'
import { verify } from './verify.js'

/** Every suite, in the order of the page. */
export const suites: readonly Suite[] = [
  guard,
  verify,
  login,
  refresh,
  grant,
  start,
  growth,
  storage,
  sweep,
  configuration,
  statements,
  connections,
  endurance,
]
