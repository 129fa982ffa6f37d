import { Refusal } from '../../frame/refusal.js'

/** Loads a driver, which is installed where it is needed alone. */
export async function driverOf<Driver>(name: string, load: () => Promise<Driver>): Promise<Driver> {
  try {
    return await load()
  } catch (cause) {
    throw new Refusal(`The package ${name} is missing: npm install ${name}`, 2, { cause })
  }
}
