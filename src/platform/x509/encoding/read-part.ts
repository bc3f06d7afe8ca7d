/** Runs `read` and puts `part` before the message of what it throws, so that an operator sees which file is wrong. */
export async function readPart<T>(part: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (problem) {
    throw new Error(`${part}: ${problem instanceof Error ? problem.message : 'cannot be read'}`, { cause: problem })
  }
}
