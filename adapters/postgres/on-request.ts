// What no host asks for while it serves, in one part that is loaded at its first use.
export { heldBy, inspect } from './inspect.js'
export { planOf } from './plan.js'
