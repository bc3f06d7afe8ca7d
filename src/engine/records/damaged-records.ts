import { DamagedRecord, type StoredRecord } from '../../ports/storage.ts'
import { type Call, isAdminCall } from '../context/call.ts'
import { whatIsLeft } from '../context/recorded-changes.ts'

/**
 * The record that is to be deleted; of a damaged one what is left of it. Only an administrator deletes those, because what
 * cannot be read may be what protects them. Error: {@link DamagedRecord} for everybody else.
 */
export async function readToDelete<T extends StoredRecord>(
  call: Call,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return isAdminCall(call) ? whatIsLeft(read) : read()
}

/** What is read, or nothing where it is damaged: for records that are made anew when they are missing. */
export async function ifReadable<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DamagedRecord) return undefined
    throw error
  }
}

/** Whether there is a record, readable or not: for records that are only made where there is none. */
export async function isStored(read: () => Promise<StoredRecord | undefined>): Promise<boolean> {
  try {
    return (await read()) !== undefined
  } catch (error) {
    if (error instanceof DamagedRecord) return true
    throw error
  }
}
