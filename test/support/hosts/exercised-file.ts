/** A line for each operation and status that the contract suite met, such as `clientLogin 200`. */
export const exercisedFile = new URL('../../../.results/exercised.txt', import.meta.url)
