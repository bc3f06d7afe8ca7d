import { ApiError } from 'portcullis/client'

/** The controller's refusal of a request that must not succeed. Rejects when it does, or fails in another way. */
export async function refusalOf(request: Promise<unknown>): Promise<ApiError> {
  try {
    await request
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('the controller granted what it should have refused')
}
