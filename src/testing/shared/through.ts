/** A call that an adapter makes of its driver. */
export interface DriverCall {
  /** The method: `query`, `findOne`. */
  readonly name: string
  /** The call that handed out the object whose method it is; null for the client itself. */
  readonly madeBy: DriverCall | null
  readonly args: readonly unknown[]
  /** The client that was passed `through`. */
  readonly client: object
  /** It was given a function, inside of which further calls may be made: a transaction. */
  readonly isScope: boolean
}

/** What becomes of the driver's answers before the adapter sees them. */
export interface Interceptor {
  /** Gives the answer of a call that is not to be made; null for one that is. May throw. */
  before(call: DriverCall): Promise<never> | null
  /** Gives the promise the adapter gets in place of `answer`; the call itself is under way. */
  later(call: DriverCall, answer: Promise<unknown>): Promise<unknown>
  /** Told of an answer that was given at once, just before the adapter sees it. May throw. */
  atOnce(call: DriverCall, answer: unknown): void
}

/** Objects that are data, whatever their methods: given on as they are. */
const data = [Array, Date, Map, Set, RegExp, Error, ArrayBuffer]

/**
 * The client with every answer passed through `interceptor`. Answers are held, never calls, since only
 * a call that was made shows whether its answer is a promise. Objects with methods that the driver
 * returns (collections, cursors, connections, prepared statements) are wrapped too.
 */
export function throughInterceptor<C extends object>(client: C, interceptor: Interceptor): C {
  const targets = new WeakMap<object, object>()

  function plain(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    return targets.get(value) ?? value
  }

  /** What the driver is given: its own objects, also one level deep, as in `{ session }`. */
  function argument(value: unknown, call: DriverCall): unknown {
    if (typeof value === 'function') {
      return (...given: unknown[]) => value(...given.map((one) => follow(one, call)))
    }
    if (!isPlainObject(value)) return plain(value)
    const entries = Object.entries(value)
    if (entries.every(([, inner]) => plain(inner) === inner)) return value
    return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner)]))
  }

  function follow(value: unknown, madeBy: DriverCall | null): unknown {
    return hasMethods(value) && !targets.has(value) ? wrap(value, madeBy) : value
  }

  function called(call: DriverCall, answer: unknown): unknown {
    if (isThenable(answer)) {
      const settled = Promise.resolve(answer).then((value) => follow(value, call))
      return interceptor.later(call, settled)
    }
    if (hasMethods(answer)) return follow(answer, call)
    interceptor.atOnce(call, answer)
    return answer
  }

  function made(target: object, method: Method, args: unknown[], call: DriverCall): unknown {
    try {
      return Reflect.apply(method, target, args)
    } catch (error) {
      interceptor.atOnce(call, error) // a driver without promises answers so as well
      throw error
    }
  }

  function run(target: object, method: Method, call: DriverCall): unknown {
    const args = call.args.map((one) => argument(one, call))
    return interceptor.before(call) ?? called(call, made(target, method, args, call))
  }

  function wrap<T extends object>(target: T, madeBy: DriverCall | null): T {
    const callOf = (name: string, args: readonly unknown[]): DriverCall => {
      return { name, madeBy, args, client, isScope: args.some(isMethod) }
    }
    const proxy = new Proxy(target, {
      get(_, property) {
        // The target is the receiver: private fields and internal slots are not the proxy's.
        const value: unknown = Reflect.get(target, property)
        if (typeof property === 'symbol' && property !== Symbol.asyncIterator) return value
        if (!isMethod(value)) return follow(value, madeBy)
        return (...given: unknown[]) => {
          const answer = run(target, value, callOf(String(property), given))
          return answer === target ? proxy : answer
        }
      },
      apply: (_, _self, given) => run(target, Object(target), callOf('call', given)),
    })
    targets.set(proxy, target)
    return proxy
  }

  return wrap(client, null)
}

type Method = (...args: unknown[]) => unknown

function isMethod(value: unknown): value is Method {
  return typeof value === 'function'
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && isMethod(Reflect.get(value, 'then'))
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** An object of a driver's class, or a plain one that holds functions; rows and values are not. */
function hasMethods(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || isThenable(value)) return false
  if (ArrayBuffer.isView(value) || data.some((kind) => value instanceof kind)) return false
  if (isPlainObject(value)) return Object.values(value).some(isMethod)
  const prototype: object = Object.getPrototypeOf(value)
  const names = Object.getOwnPropertyNames(prototype)
  return names.some((name) => name !== 'constructor') || hasMethods(prototype)
}
